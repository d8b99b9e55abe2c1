import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import type { Client } from '@call-analysis/client';
import { exitCodes } from '../exit-codes.ts';
import type { Session } from '../session.ts';
import { batchText, watchBatch } from './watch-batch.ts';

interface Choices {
  readonly campaign?: string;
  readonly watch?: boolean;
  readonly onError: 'reject' | 'skip';
}

/** Uploads a CSV, with a ZIP or without. */
export async function uploadBatch(
  client: Client,
  session: Session,
  files: { csv: string; zip: string | undefined },
  { campaign, watch, onError }: Choices,
): Promise<void> {
  const named = async (path: string) => ({ name: basename(path), data: await openAsBlob(path) });
  const result = await client.upload({
    csv: await named(files.csv),
    ...(files.zip !== undefined && { zip: await named(files.zip) }),
    ...(campaign !== undefined && { campaign }),
    onError,
    signal: session.signal,
    onProgress: ({ step, sentBytes, totalBytes }) =>
      session.progress(step === 'process' ? 'Checking the rows' : `Sending: ${percent(sentBytes, totalBytes)}`),
  });
  session.endProgress();
  if (result.rejected > 0) session.endWith(exitCodes.callsFailed);
  if (watch !== true) return session.print(result, `${result.message}\nbatch ${result.batch_id}`);
  const batch = await watchBatch(client, session, result.batch_id);
  session.print(batch, batchText(batch));
}

function percent(part: number, whole: number): string {
  return `${whole === 0 ? 100 : Math.floor((100 * part) / whole)} %`;
}

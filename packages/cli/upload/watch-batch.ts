import type { Client, Schemas } from '@call-analysis/client';
import { exitCodes } from '../exit-codes.ts';
import type { Session } from '../session.ts';

/** Waits for the batch, with progress. The command ends with 5 when calls failed or rows were refused. */
export async function watchBatch(client: Client, session: Session, batchId: string): Promise<Schemas['Batch']> {
  const batch = await client.waitForBatch(batchId, {
    signal: session.signal,
    onProgress: ({ by_status: counts, accepted }) => {
      const states = Object.entries(counts).filter(([, count]) => count > 0);
      session.progress(`${accepted} calls: ${states.map(([status, count]) => `${count} ${status}`).join(', ')}`);
    },
  });
  session.endProgress();
  if ((batch.by_status.failed ?? 0) > 0 || batch.rejected > 0) session.endWith(exitCodes.callsFailed);
  return batch;
}

export function batchText({
  batch_id: id,
  accepted,
  duplicates,
  rejected,
  by_status: counts,
}: Schemas['Batch']): string {
  const states = Object.entries(counts).filter(([, count]) => count > 0);
  return [
    `batch ${id}: ${accepted} accepted, ${duplicates} duplicates, ${rejected} refused`,
    ...states.map(([status, count]) => `  ${status} ${count}`),
  ].join('\n');
}

import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname, basename } from 'node:path';
import type { Client } from '@call-analysis/client';
import { type Command, Option } from 'commander';
import { CliError, exitCodes } from '../exit-codes.ts';
import type { Session } from '../session.ts';
import { recordingsOf, uploadRecordings } from '../upload/upload-recordings.ts';
import { batchText, watchBatch } from './calls.ts';

interface UploadCommandOptions {
  readonly campaign?: string;
  readonly watch?: boolean;
  readonly onError: 'reject' | 'skip';
  readonly metadata?: string;
}

/** Two minutes, as pauses grow to 30 s. */
const RETRIES = 10;

export function addUpload(program: Command, session: Session): void {
  program
    .command('upload <file...>')
    .description(
      'Upload a CSV of transcripts; a CSV and a ZIP of recordings; or recordings or a folder of them with the metadata.csv that describes them. Repeating an upload that was interrupted is safe: recordings are known by their partner_call_id.',
    )
    .option('--campaign <uuid>', 'the calls belong to this campaign, which must be active')
    .option('--watch', 'wait until the calls are done')
    .addOption(
      new Option('--on-error <choice>', 'what to do with the rest when rows are at fault')
        .choices(['reject', 'skip'])
        .default('reject'),
    )
    .option('--metadata <file>', 'the CSV that describes recordings; in a folder its metadata.csv')
    .addHelpText(
      'after',
      `
Examples:
  $ call-analysis upload calls.csv --watch
  $ call-analysis upload calls.csv recordings.zip --watch
  $ call-analysis upload samples/recordings --watch`,
    )
    .action((files: string[], options: UploadCommandOptions) => upload(session, files, options));
}

async function upload(session: Session, files: readonly string[], options: UploadCommandOptions): Promise<void> {
  const kinds = await Promise.all(files.map(kindOf));
  const of = (kind: string) => files.filter((_, at) => kinds[at] === kind);
  const [csvs, zips, folders, recordings] = [of('.csv'), of('.zip'), of('folder'), of('recording')];
  if (csvs.length === 1 && zips.length <= 1 && folders.length + recordings.length === 0) {
    return uploadBatch(await patientClient(session), session, { csv: csvs[0]!, zip: zips[0] }, options);
  }
  if (csvs.length + zips.length === 0 && folders.length + recordings.length > 0) {
    const all = await recordingsOf(folders, recordings, options.metadata);
    return uploadRecordings(await patientClient(session), session, all, options);
  }
  throw new CliError(
    exitCodes.usage,
    'Name one CSV, one CSV and one ZIP, or recordings and folders (with --metadata FILE for single recordings).',
  );
}

/** An upload of many files outlasts a restart of the service. One that does not answer at all is reported soon. */
async function patientClient(session: Session): Promise<Client> {
  const client = await session.client();
  await client.send(client.api.GET('/api/v1/calls', { params: { query: { size: 1 } }, signal: session.signal }));
  return session.client({ retries: RETRIES });
}

async function kindOf(file: string): Promise<string> {
  let found;
  try {
    found = await stat(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const sentence = code === 'ENOENT' ? `There is no file ${file}.` : `${file} cannot be read: ${message}`;
    throw new CliError(exitCodes.usage, sentence);
  }
  if (found.isDirectory()) return 'folder';
  const extension = extname(file).toLowerCase();
  return extension === '.csv' || extension === '.zip' ? extension : 'recording';
}

/** Uploads a CSV, with a ZIP or without. */
async function uploadBatch(
  client: Client,
  session: Session,
  files: { csv: string; zip: string | undefined },
  { campaign, watch, onError }: UploadCommandOptions,
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
  if (result.rejected > 0) session.exitCode = exitCodes.failed;
  if (watch !== true) return session.print(result, `${result.message}\nbatch ${result.batch_id}`);
  const batch = await watchBatch(client, session, result.batch_id);
  session.print(batch, batchText(batch));
}

function percent(part: number, whole: number): string {
  return `${whole === 0 ? 100 : Math.floor((100 * part) / whole)} %`;
}

import { createReadStream, existsSync, openAsBlob } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, type Client, type Schemas } from '@call-analysis/client';
import { parseStream } from 'fast-csv';
import pLimit from 'p-limit';
import { CliError, exitCodes } from '../exit-codes.ts';
import type { Session } from '../session.ts';

interface Recording {
  readonly path: string;
  readonly metadata: Schemas['RecordingMetadata'];
}

interface Choices {
  readonly campaign?: string;
  readonly watch?: boolean;
}

const METADATA = 'metadata.csv';
/** The service accepts a few uploads of a firm at a time. */
const AT_ONCE = 4;
const POLL_MS = 1000;
/** The others are uploaded all the same. */
const FAULTS_OF_A_FILE: ReadonlySet<number> = new Set([400, 413]);

/** The recordings of folders and single ones, as the CSVs describe them. */
export async function recordingsOf(
  folders: readonly string[],
  files: readonly string[],
  metadataFile: string | undefined,
): Promise<Recording[]> {
  const inFolders = folders.map(async (folder) => {
    const rows = await readRows(metadataFile ?? join(folder, METADATA));
    return rows.map((metadata) => ({ path: join(folder, metadata.audio_file_name), metadata }));
  });
  const found = (await Promise.all(inFolders)).flat();
  if (files.length > 0) {
    if (metadataFile === undefined) {
      throw new CliError(exitCodes.usage, 'Name the CSV that describes the recordings with --metadata FILE.');
    }
    const rows = new Map((await readRows(metadataFile)).map((row) => [row.audio_file_name.normalize(), row]));
    for (const path of files) {
      const metadata = rows.get(basename(path).normalize());
      if (metadata === undefined)
        throw new CliError(exitCodes.usage, `${metadataFile} has no row for ${basename(path)}.`);
      found.push({ path, metadata });
    }
  }
  const missing = found.filter(({ path }) => !existsSync(path)).map(({ path }) => path);
  if (missing.length > 0) {
    const more = missing.length > 10 ? ` and ${missing.length - 10} more` : '';
    throw new CliError(exitCodes.usage, `These recordings do not exist: ${missing.slice(0, 10).join(', ')}${more}.`);
  }
  if (found.length === 0) throw new CliError(exitCodes.usage, 'No recordings are described there.');
  return found;
}

async function readRows(file: string): Promise<Schemas['RecordingMetadata'][]> {
  if (!existsSync(file))
    throw new CliError(exitCodes.usage, `${file} does not exist. It must describe the recordings.`);
  const headers = (names: (string | null | undefined)[]) => names.map((name) => (name ?? '').trim().toLowerCase());
  const rows: Schemas['RecordingMetadata'][] = [];
  const options = { headers, ignoreEmpty: true, trim: true };
  for await (const row of parseStream(createReadStream(file), options) as AsyncIterable<Record<string, string>>) {
    const { audio_file_name: name } = row;
    if (!name || name !== basename(name) || name.includes('\\')) {
      throw new CliError(
        exitCodes.usage,
        `Row ${rows.length + 2} of ${file}: audio_file_name must be the name of a file beside it.`,
      );
    }
    const sent = Object.entries(row).filter(([column, value]) => column !== '' && value !== '');
    rows.push(Object.fromEntries(sent) as unknown as Schemas['RecordingMetadata']);
  }
  return rows;
}

/**
 * Uploads recordings, a few at a time. One that the firm has already, by its partner_call_id, is not sent again, so an
 * interrupted upload is simply repeated.
 */
export async function uploadRecordings(
  client: Client,
  session: Session,
  recordings: readonly Recording[],
  { campaign, watch }: Choices,
): Promise<void> {
  const limit = pLimit(AT_ONCE);
  const uuids: string[] = [];
  const failures: { file: string; code: string; message: string }[] = [];
  let [sent, known] = [0, 0];
  const one = async ({ path, metadata }: Recording) => {
    session.signal.throwIfAborted();
    const existing = await findCall(client, metadata.partner_call_id);
    if (existing !== undefined) {
      known++;
      uuids.push(existing);
    } else {
      try {
        const file = { name: metadata.audio_file_name, data: await openAsBlob(path) };
        const options = { signal: session.signal, ...(campaign !== undefined && { campaign }) };
        uuids.push((await client.uploadRecording(file, metadata, options)).audio_id);
        sent++;
      } catch (error) {
        if (!(error instanceof ApiError) || !FAULTS_OF_A_FILE.has(error.status)) throw error;
        failures.push({ file: path, code: error.code, message: error.message });
        session.say(`${path}: ${error.message}`);
      }
    }
    session.progress(`${sent} sent, ${known} there already, ${failures.length} refused, of ${recordings.length}`);
  };
  try {
    await Promise.all(recordings.map((recording) => limit(() => one(recording))));
  } finally {
    limit.clearQueue();
    session.endProgress();
  }
  if (failures.length > 0) session.exitCode = exitCodes.failed;
  const failed = watch === true ? await watchCalls(client, session, uuids) : undefined;
  const result = { sent, known, refused: failures, call_uuids: uuids, ...(failed !== undefined && { failed }) };
  const watched = failed === undefined ? '' : `, ${failed.length} failed in processing`;
  session.print(result, `${sent} sent, ${known} there already, ${failures.length} refused${watched}`);
}

async function findCall(client: Client, partnerCallId: string | undefined): Promise<string | undefined> {
  if (partnerCallId === undefined) return undefined;
  const query = { partner_call_id: partnerCallId, size: 1 };
  const { items } = await client.send(client.api.GET('/api/v1/calls', { params: { query } }));
  return items[0]?.uuid;
}

/** Waits until the calls are done, and resolves with those that failed. */
async function watchCalls(client: Client, session: Session, uuids: readonly string[]): Promise<string[]> {
  const failed: string[] = [];
  let done = 0;
  for (const uuid of uuids) {
    for (;;) {
      const call = await client.send(client.api.GET('/api/v1/calls/{uuid}', { params: { path: { uuid } } }));
      if (call.status === 'failed') failed.push(uuid);
      if (['completed', 'failed', 'canceled'].includes(call.status)) break;
      session.progress(`${done} of ${uuids.length} calls are done`);
      await pause(POLL_MS, undefined, { signal: session.signal });
    }
    done++;
  }
  session.endProgress();
  if (failed.length > 0) session.exitCode = exitCodes.failed;
  return failed;
}

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { Fault } from '@call-analysis/fault';
import type { Environment } from '@call-analysis/runtime';
import type { EnvHttpProxyAgent, Response } from 'undici';
import { fullDisk, modelFault, requireSpace } from './model-fault.ts';

export interface Remote {
  readonly url: string;
  /** Where it is known. */
  readonly bytes?: number | undefined;
  readonly sha256?: string | undefined;
}

export interface DownloadOptions {
  /** HTTP_PROXY, HTTPS_PROXY and NO_PROXY are used, in upper or lower case. */
  readonly environment: Environment;
  /** Called with what is stored so far and, where it is known, the size of the file. */
  readonly onProgress?: ((bytes: number, total: number | null) => void) | undefined;
  /** Pauses before the attempts that follow one without progress. */
  readonly pausesMs?: readonly number[] | undefined;
  /** An attempt that receives no byte for this long ends. */
  readonly stallMs?: number | undefined;
}

/** No model that runs here is larger. */
const MAX_BYTES = 20e9;
const PAUSES_MS = [1_000, 3_000, 10_000, 30_000];
const STALL_MS = 60_000;

/**
 * Downloads to `file`. Received bytes are kept in `file.part`. Another attempt, even by a later process, continues
 * there, unless the server reports that its file has changed. A known digest is checked. Faults: DOWNLOAD_FAILED,
 * DIGEST_WRONG, DISK_FULL.
 */
export async function download(remote: Remote, file: string, options: DownloadOptions): Promise<void> {
  const { pausesMs = PAUSES_MS } = options;
  const agent = await proxyAgent(options);
  try {
    let failures = 0;
    for (;;) {
      const before = await sizeOf(`${file}.part`);
      try {
        await attempt(remote, file, agent, options);
        break;
      } catch (error) {
        if (error instanceof Fault) throw error;
        const full = fullDisk(error, dirname(file));
        if (full !== null) throw full;
        failures = (await sizeOf(`${file}.part`)) > before ? 0 : failures + 1;
        const pauseMs = pausesMs[Math.max(failures - 1, 0)];
        if (pauseMs === undefined) throw failed(remote.url, reasonOf(error), error);
        await pause(pauseMs);
      }
    }
  } finally {
    await agent.destroy();
  }
  if (remote.sha256 !== undefined) {
    await checkSha256(`${file}.part`, remote.sha256, shown(remote.url)).catch(async (error: unknown) => {
      await rm(`${file}.part`);
      throw error;
    });
  }
  await rename(`${file}.part`, file);
  await rm(noteOf(file), { force: true });
}

/** Identifies the remote file that a part belongs to. */
interface Note {
  readonly url: string;
  /** Its ETag or the time of its last change. Null: a change of the file cannot be detected. */
  readonly validator: string | null;
}

async function attempt(
  { url, bytes }: Remote,
  file: string,
  dispatcher: EnvHttpProxyAgent,
  { onProgress }: DownloadOptions,
): Promise<void> {
  const part = `${file}.part`;
  const note = await readNote(file);
  const have = note?.url === url && note.validator !== null ? await sizeOf(part) : 0;
  const resume = have > 0 ? { range: `bytes=${have}-`, 'if-range': note!.validator! } : {};
  // Compressed on the way, the lengths would be those of something else.
  const { fetch } = await import('undici');
  const answer = await fetch(url, { dispatcher, headers: { 'accept-encoding': 'identity', ...resume } });
  try {
    if (answer.status === 416 && have > 0 && have === totalOf(answer)) return;
    if (answer.status === 416) await rm(part, { force: true });
    requireSuccess(answer, url);
    const from = answer.status === 206 ? startOf(answer) : 0;
    if (from !== 0 && from !== have) throw new Error('The server answered with another range.');
    const total = totalOf(answer);
    if (total !== null && total > MAX_BYTES) throw failed(url, `it is larger than ${MAX_BYTES / 1e9} GB`);
    if (total !== null && bytes !== undefined && total !== bytes)
      throw failed(url, `it has ${total} bytes, where the catalogue says ${bytes}`);
    const disk = await statfs(dirname(file));
    requireSpace(dirname(file), (total ?? 0) - from, disk.bavail * disk.bsize);
    const written: Note = { url, validator: validatorOf(answer) };
    await writeFile(noteOf(file), JSON.stringify(written));
    if (answer.body === null) throw new Error('The answer has no body.');
    let stored = from;
    const output = await open(part, from === 0 ? 'w' : 'a');
    try {
      // Chunk by chunk, so that what has arrived is stored when the connection breaks.
      for await (const chunk of answer.body) {
        stored += chunk.byteLength;
        if (stored > MAX_BYTES) throw failed(url, `it is larger than ${MAX_BYTES / 1e9} GB`);
        await output.writeFile(chunk);
        onProgress?.(stored, total);
      }
    } finally {
      await output.close();
    }
    if (total !== null && stored !== total) throw new Error(`Only ${stored} of ${total} bytes arrived.`);
  } finally {
    if (answer.body !== null && !answer.body.locked) await answer.body.cancel();
  }
}

function requireSuccess(answer: Response, url: string): void {
  const { status } = answer;
  if (new URL(url).protocol === 'https:' && new URL(answer.url).protocol !== 'https:')
    throw failed(url, 'it was redirected from https to http');
  if (status === 200 || status === 206) return;
  const message = `the server answered ${status}`;
  // The server may answer otherwise shortly.
  if (status >= 500 || status === 408 || status === 416 || status === 429) throw new Error(message);
  throw failed(url, message);
}

/** Where the range of a 206 begins. */
function startOf(answer: Response): number {
  const start = /^bytes (\d+)-/.exec(answer.headers.get('content-range') ?? '')?.[1];
  if (start === undefined) throw new Error('The server answered with a range that it does not name.');
  return Number(start);
}

/** The size of the complete file. */
function totalOf(answer: Response): number | null {
  const total = /\/(\d+)$/.exec(answer.headers.get('content-range') ?? '')?.[1];
  const length = answer.status === 200 ? answer.headers.get('content-length') : null;
  return total !== undefined ? Number(total) : length === null ? null : Number(length);
}

/** A weak ETag does not promise the same bytes. */
function validatorOf({ headers }: Response): string | null {
  const etag = headers.get('etag');
  return etag !== null && !etag.startsWith('W/') ? etag : headers.get('last-modified');
}

/** Fault DIGEST_WRONG. */
export async function checkSha256(file: string, sha256: string, shownName: string): Promise<void> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  const found = hash.digest('hex');
  if (found === sha256.toLowerCase()) return;
  throw modelFault(
    'DIGEST_WRONG',
    `${shownName} has the SHA-256 ${found}, where ${sha256.toLowerCase()} was expected, so it was not used. If a new download has the wrong digest too, the file was replaced at its source: do not use it before you know why.`,
  );
}

async function proxyAgent({ environment, stallMs = STALL_MS }: DownloadOptions): Promise<EnvHttpProxyAgent> {
  const named = (name: string) => environment[name.toLowerCase()] || environment[name] || '';
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY'])
    if (named(name) !== '' && !URL.canParse(named(name)))
      throw modelFault('DOWNLOAD_FAILED', `${name} must be a URL such as http://proxy:3128.`);
  const { EnvHttpProxyAgent } = await import('undici');
  return new EnvHttpProxyAgent({
    httpProxy: named('HTTP_PROXY'),
    httpsProxy: named('HTTPS_PROXY'),
    noProxy: named('NO_PROXY'),
    connect: { timeout: 15_000 },
    headersTimeout: stallMs,
    bodyTimeout: stallMs,
  });
}

async function readNote(file: string): Promise<Note | null> {
  try {
    return JSON.parse(await readFile(noteOf(file), 'utf8')) as Note;
  } catch {
    return null;
  }
}

const noteOf = (file: string) => `${file}.part.json`;

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}

/** Without what may be a secret. */
export function shown(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}

function failed(url: string, reason: string, cause?: unknown): Fault {
  return modelFault(
    'DOWNLOAD_FAILED',
    `${shown(url)} cannot be downloaded: ${reason.replace(/\.$/, '')}. Check the address, the network and HTTPS_PROXY, and run the command again: it goes on where it stopped.`,
    cause,
  );
}

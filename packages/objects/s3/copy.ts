import { missing } from './failures.ts';
import { MAX_PARTS, Multipart, refuseError } from './multipart.ts';
import { isCode, type Requests } from './requests.ts';

export interface Version {
  readonly sizeBytes: number;
  readonly etag: string;
}

/** A source that changes this often while it is copied is under attack. */
const TRIES = 5;
/** Parts that are copied at the same time. */
const CONCURRENCY = 4;

type Find = (key: string) => Promise<Version | null>;

/** Copies one version of an object inside the store. When the source changes meanwhile, the new version is copied. */
export async function copy(requests: Requests, find: Find, from: string, to: string): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    const version = await find(from);
    if (version === null) throw missing();
    // S3 refuses to copy an object onto itself.
    if (from === to) return;
    try {
      await copyVersion(requests, version, from, to);
      return;
    } catch (error) {
      if (tried === TRIES || !isCode(error, 'PreconditionFailed')) throw error;
    }
  }
}

async function copyVersion(requests: Requests, { sizeBytes, etag }: Version, from: string, to: string): Promise<void> {
  const { copyBytes, workMs: idleMs } = requests.limits;
  const headers = { 'x-amz-copy-source': requests.copySource(from), 'x-amz-copy-source-if-match': etag };
  if (sizeBytes <= copyBytes) {
    refuseError((await requests.ask({ method: 'PUT', key: to, headers }, { idleMs })).text);
    return;
  }
  const stepBytes = Math.max(copyBytes, Math.ceil(sizeBytes / MAX_PARTS));
  const steps = Array.from({ length: Math.ceil(sizeBytes / stepBytes) }, (_, index) => index);
  const multipart = await Multipart.begin(requests, to);
  const stop = new AbortController();
  const copySteps = async () => {
    for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
      const range = `bytes=${step * stepBytes}-${Math.min((step + 1) * stepBytes, sizeBytes) - 1}`;
      const request = { headers: { ...headers, 'x-amz-copy-source-range': range } };
      await multipart.part(step + 1, request, { signal: stop.signal, idleMs });
    }
  };
  const workers = Array.from({ length: CONCURRENCY }, copySteps);
  try {
    await Promise.all(workers);
    await multipart.complete();
  } catch (error) {
    stop.abort();
    await Promise.allSettled(workers);
    await multipart.abort();
    throw error;
  }
}

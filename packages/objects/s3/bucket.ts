import { setTimeout as pause } from 'node:timers/promises';
import { unavailable } from '@call-analysis/fault';
import { type Logger, StartFault } from '@call-analysis/runtime';
import { adviceOn } from './advice.ts';
import type { S3Config } from './config.ts';
import { removeBrokenUploads } from './lifecycle.ts';
import { bodyOf, isCode, type Requests } from './requests.ts';
import { CORS, ensureRules } from './rules.ts';
import { element, escape, S3_NAMESPACE } from './xml.ts';

const ID = 'call-analysis-pages';
const METHODS = ['GET', 'HEAD', 'PUT'];
/** Headers that a page must read to send or get in parts. */
const EXPOSED = ['ETag', 'Content-Range', 'Accept-Ranges', 'Content-Length'];
const MAX_AGE_SECONDS = 600;

/** Lets pages of these origins use presigned URLs. Nothing is thrown, because other clients do not need it. */
async function allowOrigins(
  requests: Requests,
  origins: readonly string[],
  log: Pick<Logger, 'warn'> | undefined,
): Promise<void> {
  const all = (name: string, values: readonly string[]) =>
    values.map((each) => `<${name}>${escape(each)}</${name}>`).join('');
  const rule =
    `${all('AllowedHeader', ['*'])}${all('AllowedMethod', METHODS)}${all('AllowedOrigin', origins)}` +
    `${all('ExposeHeader', EXPOSED)}<MaxAgeSeconds>${MAX_AGE_SECONDS}</MaxAgeSeconds>`;
  try {
    if (await ensureRules(requests, CORS, { [ID]: rule })) return;
    log?.warn(
      { origins },
      'the object store does not support CORS rules: allow the pages of S3_CORS_ORIGINS in its own configuration',
    );
  } catch (error) {
    log?.warn({ err: error, origins }, 'the CORS rule for the pages of S3_CORS_ORIGINS could not be set');
  }
}

type Log = Pick<Logger, 'info' | 'warn' | 'error'>;

interface RequestLimits {
  readonly totalMs: number;
  readonly tries?: number;
}

/** Callers of `ready` ask often, so the answer must come soon. */
const READY_MS = 5000;

/** Makes sure that the bucket exists and can be used. */
export class Bucket {
  readonly #requests: Requests;
  readonly #config: S3Config;
  readonly #log: Log | undefined;
  #isPrepared = false;
  #preparing: Promise<void> | undefined;

  constructor(requests: Requests, config: S3Config, log: Log | undefined) {
    this.#requests = requests;
    this.#config = config;
    this.#log = log;
  }

  /**
   * Resolves when the bucket can be used, or when the store has not answered for `startMs`; then the attempts continue in
   * the background. Rejects with StartFault when only the operator can correct the cause.
   */
  async open(): Promise<void> {
    const { startMs, retryMs } = this.#requests.limits;
    const until = Date.now() + startMs;
    const pauseMs = Math.min(retryMs, startMs / 10);
    for (;;) {
      try {
        await this.#prepare({ totalMs: until - Date.now(), tries: 1 });
        return;
      } catch (error) {
        const isOver = Date.now() + pauseMs >= until;
        // A host name may become known while other containers start.
        if (error instanceof StartFault && (isOver || !isCode(error.cause, 'ENOTFOUND'))) throw error;
        if (isOver) {
          this.#log?.warn({ err: error }, 'the object store does not answer yet; the start continues without it');
          void this.#prepareLater();
          return;
        }
      }
      await pause(pauseMs);
    }
  }

  /** Rejects with Fault UNAVAILABLE when the bucket cannot be used now. */
  async ready(): Promise<void> {
    try {
      if (this.#isPrepared) await this.#check({ totalMs: READY_MS });
      else await this.#prepare({ totalMs: READY_MS });
    } catch (error) {
      throw unavailable('The object store', error);
    }
  }

  async #prepareLater(): Promise<void> {
    let logged = '';
    while (!this.#isPrepared) {
      await pause(this.#requests.limits.retryMs, undefined, { ref: false });
      try {
        await this.#prepare({ totalMs: READY_MS, tries: 1 });
        this.#log?.info({}, 'the object store answers');
      } catch (error) {
        // Each reason is logged once, not every few seconds.
        if (!(error instanceof StartFault) || error.message === logged) continue;
        this.#log?.error({ err: error }, 'the object store cannot be used');
        logged = error.message;
      }
    }
  }

  #prepare(limits: RequestLimits): Promise<void> {
    this.#preparing ??= this.#prepareNow(limits).finally(() => {
      this.#preparing = undefined;
    });
    return this.#preparing;
  }

  async #prepareNow(limits: RequestLimits): Promise<void> {
    if (this.#isPrepared) return;
    try {
      try {
        await this.#check(limits);
      } catch (error) {
        if (!isCode(error, 'NoSuchBucket') || !this.#config.createBucket) throw error;
        await this.#create(limits);
        await this.#check(limits);
      }
    } catch (error) {
      const advice = adviceOn(error, this.#config);
      throw advice === null ? error : new StartFault(advice, { cause: error });
    }
    this.#isPrepared = true;
    await removeBrokenUploads(this.#requests, this.#log);
    if (this.#config.corsOrigins !== undefined) await allowOrigins(this.#requests, this.#config.corsOrigins, this.#log);
    await this.#warnOfVersioning();
  }

  /** The answer to a list names the error; the answer to HEAD does not. */
  async #check(limits: RequestLimits): Promise<void> {
    const { text } = await this.#requests.askBriefly({ method: 'GET', query: 'list-type=2&max-keys=1' }, limits);
    if (text.includes('<ListBucketResult')) return;
    throw Object.assign(new Error('the answer is not a list of a bucket'), { code: 'NotS3' });
  }

  /** The bytes of an erased call must be gone, which versioning prevents. */
  async #warnOfVersioning(): Promise<void> {
    const versioning = await this.#requests.askBriefly({ method: 'GET', query: 'versioning' }).catch(() => null);
    if (versioning === null || element(versioning.text, 'Status') !== 'Enabled') return;
    this.#log?.warn(
      {},
      'the bucket keeps old versions: erased recordings stay in it until a lifecycle rule removes them',
    );
  }

  async #create(limits: RequestLimits): Promise<void> {
    const { region } = this.#config;
    const constraint = `<LocationConstraint>${escape(region)}</LocationConstraint>`;
    const xml = `<CreateBucketConfiguration xmlns="${S3_NAMESPACE}">${constraint}</CreateBucketConfiguration>`;
    // us-east-1 must not be named.
    const body = bodyOf(region === 'us-east-1' ? '' : xml);
    try {
      await this.#requests.askBriefly({ method: 'PUT', body }, limits);
    } catch (error) {
      // Another process created it first.
      if (!isCode(error, 'BucketAlreadyOwnedByYou', 'BucketAlreadyExists')) throw error;
    }
  }
}

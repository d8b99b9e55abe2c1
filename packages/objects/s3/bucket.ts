import { setTimeout as pause } from 'node:timers/promises';
import { unavailable } from '@call-analysis/fault';
import { type Logger, StartFault } from '@call-analysis/runtime';
import { adviceOn } from './advice.ts';
import type { S3Config } from './config.ts';
import { admitPages } from './cors.ts';
import { emptyOfBrokenUploads } from './lifecycle.ts';
import { bodyOf, isCode, type Requests } from './requests.ts';
import { element, escape, S3_NAMESPACE } from './xml.ts';

type Log = Pick<Logger, 'info' | 'warn' | 'error'>;

interface Patience {
  readonly wholeMs: number;
  readonly tries?: number;
}

/** A question whose answer is awaited by somebody who asks often. */
const READY_MS = 5000;

/** Sees to it that the bucket is there and may be used. */
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
   * Resolves when the bucket can be used, or when the store has not answered for `startMs`; then it is asked on behind
   * the scenes. Rejects with StartFault when it answers what only the operator can change.
   */
  async open(): Promise<void> {
    const { startMs, againMs } = this.#requests.limits;
    const until = Date.now() + startMs;
    const pauseMs = Math.min(againMs, startMs / 10);
    for (;;) {
      try {
        await this.#prepare({ wholeMs: until - Date.now(), tries: 1 });
        return;
      } catch (error) {
        const isOver = Date.now() + pauseMs >= until;
        // The name of a host may come to be known while others start.
        if (error instanceof StartFault && (isOver || !isCode(error.cause, 'ENOTFOUND'))) throw error;
        if (isOver) {
          this.#log?.warn({ err: error }, 'the object store does not answer yet; the start goes on without it');
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
      if (this.#isPrepared) await this.#check({ wholeMs: READY_MS });
      else await this.#prepare({ wholeMs: READY_MS });
    } catch (error) {
      throw unavailable('The object store', error);
    }
  }

  async #prepareLater(): Promise<void> {
    let told = '';
    while (!this.#isPrepared) {
      await pause(this.#requests.limits.againMs, undefined, { ref: false });
      try {
        await this.#prepare({ wholeMs: READY_MS, tries: 1 });
        this.#log?.info({}, 'the object store answers');
      } catch (error) {
        // Once for each reason, not every few seconds.
        if (!(error instanceof StartFault) || error.message === told) continue;
        this.#log?.error({ err: error }, 'the object store cannot be used');
        told = error.message;
      }
    }
  }

  #prepare(patience: Patience): Promise<void> {
    this.#preparing ??= this.#makeSure(patience).finally(() => {
      this.#preparing = undefined;
    });
    return this.#preparing;
  }

  async #makeSure(patience: Patience): Promise<void> {
    if (this.#isPrepared) return;
    try {
      try {
        await this.#check(patience);
      } catch (error) {
        if (!isCode(error, 'NoSuchBucket') || !this.#config.createBucket) throw error;
        await this.#create(patience);
        await this.#check(patience);
      }
    } catch (error) {
      const advice = adviceOn(error, this.#config);
      throw advice === null ? error : new StartFault(advice, { cause: error });
    }
    this.#isPrepared = true;
    await emptyOfBrokenUploads(this.#requests, this.#log);
    if (this.#config.corsOrigins !== undefined) await admitPages(this.#requests, this.#config.corsOrigins, this.#log);
    await this.#tellOfVersions();
  }

  /** A list says in words what is wrong, where a HEAD says only that something is. */
  async #check(patience: Patience): Promise<void> {
    const { text } = await this.#requests.askBriefly({ method: 'GET', query: 'list-type=2&max-keys=1' }, patience);
    if (text.includes('<ListBucketResult')) return;
    throw Object.assign(new Error('the answer is no list of a bucket'), { code: 'NotS3' });
  }

  /** Whoever has a call erased is told that its bytes are gone. */
  async #tellOfVersions(): Promise<void> {
    const versioning = await this.#requests.askBriefly({ method: 'GET', query: 'versioning' }).catch(() => null);
    if (versioning === null || element(versioning.text, 'Status') !== 'Enabled') return;
    this.#log?.warn(
      {},
      'the bucket keeps old versions: what is erased stays in it until a rule of its own removes them',
    );
  }

  async #create(patience: Patience): Promise<void> {
    const { region } = this.#config;
    const place = `<LocationConstraint>${escape(region)}</LocationConstraint>`;
    const xml = `<CreateBucketConfiguration xmlns="${S3_NAMESPACE}">${place}</CreateBucketConfiguration>`;
    // The first of all regions must not be named.
    const body = bodyOf(region === 'us-east-1' ? '' : xml);
    try {
      await this.#requests.askBriefly({ method: 'PUT', body }, patience);
    } catch (error) {
      // Another process has been quicker.
      if (!isCode(error, 'BucketAlreadyOwnedByYou', 'BucketAlreadyExists')) throw error;
    }
  }
}

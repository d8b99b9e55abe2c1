import { setTimeout as pause } from 'node:timers/promises';
import { unavailable } from '@call-analysis/fault';
import { type Logger, StartFault } from '@call-analysis/runtime';
import type { S3Config } from './config.ts';
import { codeOf, isTemporary, TimeOut } from './failures.ts';
import { bodyOf, isCode, type Requests } from './requests.ts';
import { CORS, ensureRules, removeBrokenUploads } from './rules.ts';
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

/** Advice to the operator; null if the store merely does not respond. It never contains the secret key. */
export function adviceOn(error: unknown, { endpoint, bucket, region, pathStyle }: S3Config): string | null {
  const code = codeOf(error);
  const { hostname } = new URL(endpoint);
  const askedHost = pathStyle ? hostname : `${bucket}.${hostname}`;
  const store = `The object store at ${endpoint}`;
  switch (code) {
    case 'InvalidAccessKeyId':
    case 'XAdminUserNotFound':
      return `${store} does not know the access key. Check S3_ACCESS_KEY.`;
    case 'SignatureDoesNotMatch':
      return `${store} refuses the signature of the two keys. Check S3_SECRET_KEY and S3_ACCESS_KEY.`;
    case 'AccessDenied':
      return `${store} does not allow the access key to use the bucket "${bucket}". Allow it, or check S3_BUCKET and S3_ACCESS_KEY.`;
    case 'NoSuchBucket':
      return `${store} has no bucket "${bucket}". Create it, or set S3_CREATE_BUCKET to on, or check S3_BUCKET.`;
    case 'InvalidBucketName':
      return `${store} does not accept "${bucket}" as the name of a bucket. Check S3_BUCKET.`;
    case 'AuthorizationHeaderMalformed':
    case 'PermanentRedirect':
    case 'MovedPermanently':
    case 'IllegalLocationConstraintException':
    case 'InvalidLocationConstraint':
    case 'IncorrectEndpoint':
      return `${store} keeps the bucket "${bucket}" in another region than ${region}. Set S3_REGION${regionIn(error)}.`;
    case 'RequestTimeTooSkewed':
      return `${store} and this machine have different times. Set the clock.`;
    case 'ENOTFOUND':
      return `There is no host ${askedHost}. Check S3_ENDPOINT${pathStyle ? '' : ', and whether S3_PATH_STYLE should be on'}.`;
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
      return `The server at ${endpoint} does not speak TLS. S3_ENDPOINT must begin with http:// for it.`;
    default:
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO_/.test(code)) {
    return `${store} has a certificate that is not trusted (${code}). Name its authority in NODE_EXTRA_CA_CERTS.`;
  }
  if (isTemporary(error) || error instanceof TimeOut) return null;
  if (isAnswer(error) && code !== '') {
    return `${store} refuses the bucket "${bucket}" (${code}). Check S3_ENDPOINT, S3_BUCKET and S3_REGION.`;
  }
  // The answer is not XML, or not even HTTP.
  if (isAnswer(error) || code === 'NotS3' || code.startsWith('HPE_')) {
    return `The server at ${endpoint} does not answer like an S3 store. Check S3_ENDPOINT.`;
  }
  return null;
}

function isAnswer(error: unknown): boolean {
  return error instanceof Error && error.name === 'S3Error';
}

function regionIn(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  // The client does not decode the quotes of the XML.
  const named = /expecting (?:['"]|&[#\w]+;)([\w-]+)/.exec(message)?.[1] ?? element(message, 'Region');
  return named === undefined ? '' : ` to ${named}`;
}

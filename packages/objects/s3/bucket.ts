import { setTimeout as pause } from 'node:timers/promises';
import {
  type BucketLocationConstraint,
  CreateBucketCommand,
  GetBucketVersioningCommand,
  ListObjectsV2Command,
  PutBucketPolicyCommand,
} from '@aws-sdk/client-s3';
import { unavailable } from '@call-analysis/fault';
import { type Logger, StartFault } from '@call-analysis/runtime';
import { ask, connect, type Store } from './client.ts';
import { S3_LIMITS, type S3Config } from './config.ts';
import { codeOf, isCode, isLost, statusOf, WITHOUT_CODE } from './failures.ts';
import { ensureCors, removeBrokenUploads } from './rules.ts';

/** Lets pages of these origins use presigned URLs. Nothing is thrown, because other clients do not need it. */
async function allowOrigins(
  store: Store,
  origins: readonly string[],
  log: Pick<Logger, 'warn'> | undefined,
): Promise<void> {
  const rule = {
    ID: 'call-analysis-pages',
    AllowedHeaders: ['*'],
    AllowedMethods: ['GET', 'HEAD', 'PUT'],
    AllowedOrigins: [...origins],
    // Headers that a page must read to send or get in parts.
    ExposeHeaders: ['ETag', 'Content-Range', 'Accept-Ranges', 'Content-Length'],
    MaxAgeSeconds: 600,
  };
  try {
    if (await ensureCors(store, [rule])) return;
    log?.warn(
      { origins },
      'the object store does not support CORS rules: allow the pages of S3_CORS_ORIGINS in its own configuration',
    );
  } catch (error) {
    log?.warn({ err: error, origins }, 'the CORS rule for the pages of S3_CORS_ORIGINS could not be set');
  }
}

type Log = Pick<Logger, 'info' | 'warn' | 'error'>;

/** Callers of `ready` ask often, so the answer must come soon. */
const READY_MS = 5000;

/**
 * Makes sure that the bucket exists. Resolves when it can be used, or when the store has not answered for `startMs`; then the
 * attempts continue in the background. Rejects with StartFault when only the operator can correct the cause. Returns `ready`.
 */
export async function openBucket(store: Store, config: S3Config, log: Log | undefined): Promise<() => Promise<void>> {
  let isPrepared = false;
  let preparing: Promise<void> | undefined;

  async function open(): Promise<void> {
    const { startMs, retryMs } = store.limits;
    const until = Date.now() + startMs;
    const pauseMs = Math.min(retryMs, startMs / 10);
    for (;;) {
      try {
        await prepare(until - Date.now());
        return;
      } catch (error) {
        const isOver = Date.now() + pauseMs >= until;
        // A host name may become known while other containers start.
        if (error instanceof StartFault && (isOver || !isCode(error.cause, 'ENOTFOUND'))) throw error;
        if (isOver) {
          log?.warn({ err: error }, 'the object store does not answer yet; the start continues without it');
          void prepareLater();
          return;
        }
      }
      await pause(pauseMs);
    }
  }

  /** Rejects with Fault UNAVAILABLE when the bucket cannot be used now. */
  async function ready(): Promise<void> {
    try {
      if (isPrepared) await check(READY_MS);
      else await prepare(READY_MS);
    } catch (error) {
      throw unavailable('The object store', error);
    }
  }

  async function prepareLater(): Promise<void> {
    let logged = '';
    for (;;) {
      await pause(store.limits.retryMs, undefined, { ref: false });
      try {
        await prepare(READY_MS);
        log?.info({}, 'the object store answers');
        return;
      } catch (error) {
        // Each reason is logged once, not every few seconds.
        if (!(error instanceof StartFault) || error.message === logged) continue;
        log?.error({ err: error }, 'the object store cannot be used');
        logged = error.message;
      }
    }
  }

  function prepare(totalMs: number): Promise<void> {
    preparing ??= prepareNow(totalMs).finally(() => {
      preparing = undefined;
    });
    return preparing;
  }

  async function prepareNow(totalMs: number): Promise<void> {
    if (isPrepared) return;
    try {
      try {
        await check(totalMs);
      } catch (error) {
        if (!isCode(error, 'NoSuchBucket') || !config.createBucket) throw error;
        await create(totalMs);
        await check(totalMs);
      }
    } catch (error) {
      const advice = adviceOn(error, config);
      throw advice === null ? error : new StartFault(advice, { cause: error });
    }
    isPrepared = true;
    await removeBrokenUploads(store, log);
    if (config.corsOrigins !== undefined) await allowOrigins(store, config.corsOrigins, log);
    await warnOfVersioning();
  }

  /** The answer to a list names the error; the answer to HEAD does not. */
  async function check(totalMs: number): Promise<void> {
    const list = new ListObjectsV2Command({ Bucket: store.bucket, MaxKeys: 1 });
    const listed = await ask(store, list, totalMs);
    if (listed.IsTruncated !== undefined) return;
    throw Object.assign(new Error('the answer is not a list of a bucket'), { code: 'NotS3' });
  }

  /** The bytes of an erased call must be gone, which versioning prevents. */
  async function warnOfVersioning(): Promise<void> {
    const versioning = new GetBucketVersioningCommand({ Bucket: store.bucket });
    const found = await ask(store, versioning).catch(() => null);
    if (found?.Status !== 'Enabled') return;
    log?.warn({}, 'the bucket keeps old versions: erased recordings stay in it until a lifecycle rule removes them');
  }

  async function create(totalMs: number): Promise<void> {
    const place = { LocationConstraint: config.region as BucketLocationConstraint };
    // us-east-1 must not be named.
    const create = new CreateBucketCommand({
      Bucket: store.bucket,
      ...(config.region !== 'us-east-1' && { CreateBucketConfiguration: place }),
    });
    try {
      await ask(store, create, totalMs);
    } catch (error) {
      // Another process created it first.
      if (!isCode(error, 'BucketAlreadyOwnedByYou', 'BucketAlreadyExists')) throw error;
    }
  }

  await open();
  return ready;
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
  const status = statusOf(error);
  if (isTemporary(error, status)) return null;
  if (status !== undefined && code !== '' && code !== WITHOUT_CODE) {
    return `${store} refuses the bucket "${bucket}" (${code}). Check S3_ENDPOINT, S3_BUCKET and S3_REGION.`;
  }
  // The answer is not XML, or not even HTTP.
  if (status !== undefined || code === 'NotS3' || code.startsWith('HPE_')) {
    return `The server at ${endpoint} does not answer like an S3 store. Check S3_ENDPOINT.`;
  }
  return null;
}

/** Whether the store does not answer, or answers about its own state and not about the request. */
function isTemporary(error: unknown, status: number | undefined): boolean {
  return isLost(error) || TEMPORARY.has(codeOf(error)) || (status !== undefined && (status >= 500 || BUSY.has(status)));
}

const BUSY: ReadonlySet<number> = new Set([408, 429, 499]);
const TEMPORARY: ReadonlySet<string> = new Set([
  'SlowDown',
  'Throttling',
  'RequestTimeout',
  'OperationAborted',
  'InternalError',
  'ServiceUnavailable',
  'RequestLimitExceeded',
]);

function regionIn(error: unknown): string {
  const { message = '', Region } = error as { message?: string; Region?: string };
  const named = /expecting ['"]([\w-]+)/.exec(message)?.[1] ?? Region;
  return named === undefined ? '' : ` to ${named}`;
}

/** Creates the bucket when it is missing and replaces its policy. The key of `config` must be its owner's. */
export async function grantRights(config: S3Config, statements: readonly object[], log?: Log): Promise<void> {
  const store = connect(config, S3_LIMITS);
  const ready = await openBucket(store, config, log);
  await ready();
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: statements });
  const command = new PutBucketPolicyCommand({ Bucket: store.bucket, Policy });
  await ask(store, command);
}

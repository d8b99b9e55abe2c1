import { Fault, isConnectionCode, unavailable } from '@call-analysis/fault';
import { missing } from '../port.ts';

/** The store took too long. `isStale`: on a reused connection, which may have been dead already. */
export class TimeOut extends Error {
  readonly code = 'ETIMEDOUT';
  readonly isStale: boolean;

  constructor(what: string, isStale = false) {
    super(`the object store ${what}`);
    this.isStale = isStale;
  }
}

/** An answer about the state of the store and not about the request: 408, 429, 499 and from 500 on. */
export class Refusal extends Error {
  readonly statusCode: number;
  /** The S3 error code, or for example `HTTP 503`. */
  readonly code: string;

  constructor(statusCode: number, code: string) {
    super(`the object store answered ${statusCode}: ${code}`);
    this.statusCode = statusCode;
    this.code = code;
  }
}

const TEMPORARY = new Set([
  'SlowDown',
  'Throttling',
  'RequestTimeout',
  'OperationAborted',
  'InternalError',
  'ServiceUnavailable',
  'RequestLimitExceeded',
]);
const MISSING = new Set(['NoSuchKey', 'NotFound']);
const FULL = new Set(['QuotaExceeded', 'XMinioStorageFull', 'XMinioAdminBucketQuotaExceeded', 'InsufficientStorage']);
/** The keys or their rights are wrong; a retry does not help. */
const REFUSED = new Set([
  'AccessDenied',
  'AccountProblem',
  'AllAccessDisabled',
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'XAdminUserNotFound',
]);

/** The error code of S3 or of the operating system; empty when there is none. */
export function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  // Several addresses of one host were tried and all failed.
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

export function isMissing(error: unknown): boolean {
  return MISSING.has(codeOf(error));
}

/** Whether the connection was lost or never made. The request may have been handled. */
export function isLost(error: unknown): boolean {
  return isConnectionCode(codeOf(error));
}

/** Whether a retry shortly after may succeed. */
export function isTemporary(error: unknown): boolean {
  // A store that was silent for thirty seconds on a new connection will not answer a retry either.
  if (error instanceof TimeOut) return error.isStale;
  if (error instanceof Refusal) return !isFull(error);
  return isLost(error) || TEMPORARY.has(codeOf(error));
}

/** A failed request as the Fault of the port. */
export function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  if (isMissing(error)) return missing();
  if (isFull(error)) {
    const message = 'The object store is full. Free some space, then try again.';
    return new Fault('unavailable', 'INSUFFICIENT_STORAGE', message, { cause: error });
  }
  const code = codeOf(error);
  if (code === 'EntityTooLarge') return tooLarge(error);
  if (!REFUSED.has(code)) return unavailable('The object store', error);
  return unavailable(
    'The object store',
    new Error(`the object store refuses the access key (${code})`, { cause: error }),
  );
}

export async function faulted<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    throw toFault(error);
  }
}

export function tooLarge(cause?: unknown): Fault {
  return new Fault('too-large', 'TOO_LARGE', 'The object store does not accept objects of this size.', {
    cause,
  });
}

function isFull(error: unknown): boolean {
  return FULL.has(codeOf(error)) || (error instanceof Refusal && error.statusCode === 507);
}

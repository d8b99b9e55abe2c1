import { Fault, isConnectionCode, unavailable } from '@call-analysis/fault';
import { missing } from '../port.ts';

/** The store took too long. */
export class TimeOut extends Error {
  override readonly name = 'TimeoutError';

  constructor(what: string) {
    super(`the object store ${what}`);
  }
}

/** The code of a 404 that has no code of S3, such as the answer to HEAD. */
export const WITHOUT_CODE = 'NotFound';

const MISSING = new Set(['NoSuchKey', WITHOUT_CODE]);
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
  // Several addresses of one host were tried and all failed.
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  const { code, Code } = error as { code?: unknown; Code?: unknown };
  const found = code ?? Code ?? (statusOf(error) === 404 ? WITHOUT_CODE : '');
  return typeof found === 'string' ? found : '';
}

export function isCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes(codeOf(error));
}

/** The status of the store's answer; undefined when there was none. */
export function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}

export function isMissing(error: unknown): boolean {
  return MISSING.has(codeOf(error));
}

/** Whether the connection was lost or never made, or the store took too long. The request may have been handled. */
export function isLost(error: unknown): boolean {
  return ['TimeoutError', 'AbortError'].includes((error as Error).name) || isConnectionCode(codeOf(error));
}

/** A failed request as the Fault of the port. */
export function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  if (isMissing(error)) return missing();
  const code = codeOf(error);
  if (FULL.has(code) || statusOf(error) === 507) {
    const message = 'The object store is full. Free some space, then try again.';
    return new Fault('unavailable', 'INSUFFICIENT_STORAGE', message, { cause: error });
  }
  if (code === 'EntityTooLarge') {
    const message = 'The object store does not accept objects of this size.';
    return new Fault('too-large', 'TOO_LARGE', message, { cause: error });
  }
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

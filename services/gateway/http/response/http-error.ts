import type { OutgoingHttpHeaders } from 'node:http';
import { Fault, type FaultKind } from '@call-analysis/fault';
import type { JsonResponse } from './send.ts';

/** An error of the HTTP layer, for which there is no Fault. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  readonly code: string;
  readonly headers: OutgoingHttpHeaders;

  constructor(status: number, code: string, message: string, headers: OutgoingHttpHeaders = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

const STATUS: Record<FaultKind, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  conflict: 409,
  stale: 412,
  'too-large': 413,
  unseen: 428,
  'rate-limited': 429,
  internal: 500,
  unavailable: 503,
};

const RETRY_AFTER_SECONDS = '1';

/** The only place that turns an error into a response (docs/api.md, "Errors"). */
export function errorResponse(error: unknown, requestId: string): JsonResponse & { body: ErrorBody } {
  if (error instanceof HttpError) {
    return { status: error.status, headers: error.headers, body: errorBody(error.code, error.message) };
  }
  if (isUndecodablePath(error)) return errorResponse(routeNotFound(), requestId);
  if (isBug(error)) {
    const message = `Something went wrong on our side. Quote the request id ${requestId} when you report it.`;
    return { status: 500, body: errorBody('INTERNAL', message) };
  }
  const { kind, code, message, details } = error;
  return { status: STATUS[kind], headers: headersOf(error), body: errorBody(code, message, details) };
}

/** Whether the error must be logged with its stack. */
export function isBug(error: unknown): error is Exclude<unknown, Fault | HttpError> {
  if (error instanceof HttpError || isUndecodablePath(error)) return false;
  return !(error instanceof Fault) || error.kind === 'internal';
}

interface ErrorBody {
  readonly status: 'error';
  readonly code: string;
  readonly message: string;
  readonly details: Record<string, unknown> | null;
}

export function errorBody(code: string, message: string, details: ErrorBody['details'] = null): ErrorBody {
  return { status: 'error', code, message, details };
}

export function routeNotFound(): HttpError {
  return new HttpError(404, 'NOT_FOUND', 'There is nothing at this address. Check the path.');
}

/** Of a request line and its headers. */
export const MAX_HEAD_BYTES = 16 * 1024;

export function headTooLarge(): HttpError {
  const message = `A request line and its headers may have at most ${MAX_HEAD_BYTES} bytes.`;
  return new HttpError(431, 'HEADERS_TOO_LARGE', message);
}

function headersOf(fault: Fault): OutgoingHttpHeaders {
  if (fault.kind === 'unavailable' || fault.kind === 'rate-limited') return { 'retry-after': RETRY_AFTER_SECONDS };
  return fault.code === 'UNAUTHENTICATED' ? { 'www-authenticate': 'Bearer' } : {};
}

/** Express throws this for a path whose percent-encoding cannot be decoded. */
function isUndecodablePath(error: unknown): boolean {
  return error instanceof Error && error.name === 'URIError';
}

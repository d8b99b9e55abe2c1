import type { OutgoingHttpHeaders } from 'node:http';
import { Fault, type FaultKind } from '@call-analysis/fault';
import type { Answer } from './json-response.ts';

/** What is wrong with a request as HTTP, where no Fault has a name for it. */
export class Problem extends Error {
  override readonly name = 'Problem';
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
  'rate-limited': 429,
  internal: 500,
  unavailable: 503,
};

/** Seconds after which it is worth trying again. */
const RETRY_AFTER = '1';

/** The only place where what was thrown becomes an answer (api.md, section 1). */
export function problemAnswer(error: unknown, requestId: string): Answer {
  if (error instanceof Problem) {
    return { status: error.status, headers: error.headers, body: errorBody(error.code, error.message) };
  }
  if (isBadPath(error)) return problemAnswer(noSuchRoute(), requestId);
  if (isBug(error)) {
    const message = `Something went wrong on our side. Quote the request id ${requestId} when you report it.`;
    return { status: 500, body: errorBody('INTERNAL', message) };
  }
  const { kind, code, message, details } = error;
  return { status: STATUS[kind], headers: headersOf(error), body: errorBody(code, message, details) };
}

/** Whether the log should say what was thrown, with its stack. */
export function isBug(error: unknown): error is Exclude<unknown, Fault | Problem> {
  if (error instanceof Problem || isBadPath(error)) return false;
  return !(error instanceof Fault) || error.kind === 'internal';
}

export function errorBody(code: string, message: string, details: Record<string, unknown> | null = null): object {
  return { status: 'error', code, message, details };
}

export function noSuchRoute(): Problem {
  return new Problem(404, 'NOT_FOUND', 'There is nothing at this address. Check the path.');
}

function headersOf(fault: Fault): OutgoingHttpHeaders {
  if (fault.kind === 'unavailable' || fault.kind === 'rate-limited') return { 'retry-after': RETRY_AFTER };
  return fault.code === 'UNAUTHENTICATED' ? { 'www-authenticate': 'Bearer' } : {};
}

/** What the router throws for a path whose percent signs do not decode. */
function isBadPath(error: unknown): boolean {
  return error instanceof Error && error.name === 'URIError';
}

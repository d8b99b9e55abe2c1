export { nearestName } from './nearest-name.ts';

/** What went wrong, in words that HTTP and gRPC can both translate. */
export type FaultKind =
  | 'invalid' // the caller sent something wrong
  | 'unauthenticated' // nobody we know
  | 'forbidden' // known, but not allowed
  | 'not-found' // no such thing in the caller's firm
  | 'conflict' // the thing is in the wrong state
  | 'stale' // the thing has changed since the caller saw it
  | 'too-large' // over a documented limit
  | 'rate-limited' // too many requests
  | 'unavailable' // a part does not answer; the same request may work later
  | 'internal'; // a bug

/**
 * A failure with two voices: `code`, `message` and `details` are for the caller,
 * `cause` is for the log and never crosses the wire.
 */
export class Fault extends Error {
  override readonly name = 'Fault';
  readonly kind: FaultKind;
  /** Upper snake case, stable: clients switch on it. */
  readonly code: string;
  /** JSON-safe, or null. Its shape belongs to the code. */
  readonly details: Record<string, unknown> | null;

  constructor(
    kind: FaultKind,
    code: string,
    message: string,
    options: { details?: Record<string, unknown> | null; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.code = code;
    this.details = options.details ?? null;
  }
}

/** One thing wrong with one field; the unit of `details.fields` (api.md, section 1). */
export interface FieldFault {
  field: string;
  code: string;
  message: string;
}

/** `VALIDATION_ERROR` with every field at fault. */
export function invalidFields(fields: readonly FieldFault[]): Fault {
  const summary = fields.map((each) => `${each.field}: ${each.message}`).join('; ');
  return new Fault('invalid', 'VALIDATION_ERROR', summary, { details: { fields } });
}

/** `NOT_FOUND`: also the answer for another firm's thing, so that nobody learns it exists. */
export function notFound(what: string): Fault {
  return new Fault('not-found', 'NOT_FOUND', `There is no such ${what} in your firm.`);
}

/** `UNAVAILABLE`: the caller may try again. */
export function unavailable(part: string, cause?: unknown): Fault {
  return new Fault('unavailable', 'UNAVAILABLE', `${part} does not answer. Try again shortly.`, { cause });
}

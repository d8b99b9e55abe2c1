export { nearestName } from './nearest-name.ts';

/** The kind of a failure, which HTTP and gRPC each map to a status. */
export type FaultKind =
  | 'invalid' // the caller sent something wrong
  | 'unauthenticated' // the caller is unknown
  | 'forbidden' // the caller is known, but not allowed
  | 'not-found' // does not exist in the caller's firm
  | 'conflict' // in a state that does not allow the request
  | 'stale' // changed since the caller read it
  | 'unseen' // would replace what the caller does not say it has read
  | 'too-large' // over a documented limit
  | 'rate-limited' // too many requests
  | 'unavailable' // a part does not answer; a retry may succeed
  | 'internal'; // a bug

/**
 * A failure. `code`, `message` and `details` are for the caller. `cause` is for the log and is never sent to another
 * process.
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

/** A fault of one field, as in `details.fields` (docs/api.md, "Errors"). */
export interface FieldFault {
  field: string;
  code: string;
  message: string;
}

/** `VALIDATION_ERROR` with every wrong field. */
export function invalidFields(fields: readonly FieldFault[]): Fault {
  const summary = fields.map((each) => `${each.field}: ${each.message}`).join('; ');
  return new Fault('invalid', 'VALIDATION_ERROR', summary, { details: { fields } });
}

/** `NOT_FOUND`. Also the answer for another firm's data, so that its existence stays hidden. */
export function notFound(what: string): Fault {
  return new Fault('not-found', 'NOT_FOUND', `There is no such ${what} in your firm.`);
}

/** What the operating system says of a connection that was lost, or that cannot be made. */
const CONNECTION_CODES: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** Whether the code of an error says that there is no connection. What was sent may have arrived. */
export function isConnectionCode(code: unknown): boolean {
  return CONNECTION_CODES.has(code);
}

/** `UNAVAILABLE`: the caller may try again. */
export function unavailable(part: string, cause?: unknown): Fault {
  return new Fault('unavailable', 'UNAVAILABLE', `${part} does not answer. Try again shortly.`, { cause });
}

/** Codes of Faults about a part that is away, or full. Others of kind `unavailable` may be about what was asked for. */
const OUTAGES = new Set(['UNAVAILABLE', 'INSUFFICIENT_STORAGE', 'WORK_DIRECTORY_FULL']);

/** Whether a part does not answer that any other work of the same kind would need too. */
export function isOutage(error: unknown): error is Fault {
  return error instanceof Fault && OUTAGES.has(error.code);
}

/** What failed while something was done to many, so that one which fails does not keep the others behind it. */
export class Failures {
  readonly #errors: unknown[] = [];

  /** Returns whether it succeeded. Only Fault `unavailable` is thrown: the others would wait for the same part. */
  async attempt(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (error instanceof Fault && error.kind === 'unavailable') throw error;
      this.#errors.push(error);
      return false;
    }
  }

  /** Throws the error, or several together, if there were any. Call it when nothing is left to do. */
  throwAll(): void {
    if (this.#errors.length === 1) throw this.#errors[0];
    if (this.#errors.length > 1) throw new AggregateError(this.#errors, `${this.#errors.length} of many failed`);
  }
}

/** Attempts the work for one item after the other, for up to `forMs` milliseconds. What fails is thrown at the end. */
export async function attemptEach<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  work: (item: Item) => Promise<unknown>,
  forMs = Infinity,
): Promise<void> {
  const deadline = Date.now() + forMs;
  const failures = new Failures();
  for await (const item of items) {
    if (Date.now() > deadline) break;
    await failures.attempt(() => work(item));
  }
  failures.throwAll();
}

/**
 * Control characters, line and paragraph separators, and characters that change the direction of the text around them.
 * The last make a name look like another one, and reverse the text after it on a page or in a log.
 */
const HIDDEN = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/**
 * What is wrong with the characters of a name that people give and others read, or null: of firms, segment types,
 * users, campaigns and scorecards. The sentence begins with the field's name.
 */
export function nameFault(name: string): string | null {
  if (!name.isWellFormed()) return 'must be well-formed Unicode';
  return HIDDEN.test(name)
    ? 'must not contain control characters or characters that change the direction of text'
    : null;
}

/** A kind of values by the name that zod has for it, in words: "a whole number". */
export function kindName(kind: string): string {
  return KINDS[kind] ?? kind;
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

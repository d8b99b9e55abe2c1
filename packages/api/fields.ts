import { Uuid } from '@call-analysis/events';
import { nameFault } from '@call-analysis/fault';
import { z } from 'zod';

export { Uuid };
export const Time = z.iso.datetime();
export const Count = z.int().min(0);

/** A shape of the API before it becomes JSON: its times are dates. */
export type Dated<Shape, Times extends keyof Shape> = Readonly<
  Omit<Shape, Times> & { [Name in Times]: null extends Shape[Name] ? Date | null : Date }
>;

/** The fields of a page of a list (docs/api.md, "Pages"). */
export function pageFields<Item extends z.ZodType>(item: Item) {
  return {
    count: Count.meta({ description: 'The number of items that match, on all pages.' }),
    items: z.array(item),
  };
}

/** A page of a list, by its name in the OpenAPI document, with an item as an example. */
export function pageOf<Item extends z.ZodType>(item: Item, id: string, example?: unknown) {
  const examples = example === undefined ? {} : { examples: [{ count: 1, items: [example] }] };
  return z.object(pageFields(item)).meta({ id, ...examples });
}

const MAX_PAGE = 2 ** 31 - 1;

/** Text that every backend can store: no NUL, no lone surrogate. */
export function text(maxLength: number) {
  return z
    .string()
    .min(1)
    .refine((value) => value.isWellFormed() && !value.includes('\0'), 'must be well-formed text without NUL')
    .refine((value) => Array.from(value).length <= maxLength, `must have at most ${maxLength} characters`)
    .meta({ documentedAs: { type: 'string', minLength: 1, maxLength, pattern: '^[^\\u0000]*$' } });
}

/** Text that people write for others. */
export function written(maxLength: number) {
  return text(maxLength).refine((given) => given === '' || given.trim() !== '', {
    error: 'must not be blank',
    params: { code: 'REQUIRED' },
  });
}

/** A name that people give and others read, trimmed (`nameFault`). */
export function name(maxLength: number) {
  const hidden = String.raw`\u0000-\u001f\u007f-\u009f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069`;
  return z
    .string()
    .trim()
    .min(1)
    .superRefine((given, context) => {
      const message = nameFault(given);
      if (message !== null) context.addIssue({ code: 'custom', message });
    })
    .refine((given) => Array.from(given).length <= maxLength, `must have at most ${maxLength} characters`)
    .meta({
      documentedAs: { type: 'string', minLength: 1, maxLength, pattern: `^[^${hidden}]*[^\\s${hidden}][^${hidden}]*$` },
    });
}

const MAX_ZONE_CHARS = 64;
const ZONE = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/;

/** What looks like the IANA name of a time zone. Whether there is one is decided where it is used. */
export function timeZone() {
  return text(MAX_ZONE_CHARS).regex(ZONE, 'must be the name of a time zone, such as Asia/Tashkent');
}

/** Paging of every list (docs/api.md, "Pages"). */
export const page = wholeNumber(1, MAX_PAGE).default(1).meta({ description: 'The page number, from 1.' });
export const size = wholeNumber(1, 100).default(10).meta({ description: 'The number of items on a page.' });

/** The query of a list without filters. */
export const PageQuery = z.strictObject({ page, size });

/** Users of the firm in a JSON body, each once. */
export function people(most: number) {
  return z
    .array(Uuid)
    .max(most)
    .refine((uuids) => new Set(uuids).size === uuids.length, 'must not name a user twice');
}

/** A filter that may be repeated. Any of its values matches. */
export function anyOf<Value extends z.ZodType<string>>(value: Value) {
  return z.array(value).default([]);
}

/** A query parameter: a date, or a date and time. Without an offset it is UTC (docs/api.md, "Single upload"). */
export function instant() {
  const message = 'must be a date and time such as 2026-10-01T09:00:00Z, or a date';
  return z
    .string()
    .transform((given) => instantOf(given))
    .refine((time) => time !== null, message)
    .transform((time) => time!.toISOString())
    .meta({ documentedAs: { type: 'string', examples: ['2026-10-01T09:00:00+05:00', '2026-10-01'] } });
}

/** For a rule about several fields: checked also where fields are invalid, so that all faults are reported together. */
export const amongOthers = { when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null };

/** Adds the rule that the end of a range must not be before its beginning. Both are instants, or numbers. */
export function inOrder<Range extends z.ZodObject>(
  range: Range,
  from: keyof Range['shape'] & string = 'from',
  to: keyof Range['shape'] & string = 'to',
  than: 'before' | 'below' = 'before',
): Range {
  return range.refine((given: Readonly<Record<string, unknown>>) => !isReversed(given[from], given[to]), {
    ...amongOthers,
    path: [to],
    error: `must not be ${than} ${from}`,
  });
}

function isReversed(from: unknown, to: unknown): boolean {
  if (isInstant(from) && isInstant(to)) return from > to;
  return typeof from === 'number' && typeof to === 'number' && from > to;
}

/** Whether it is what `instant` makes: a field that is invalid still holds what was sent. */
function isInstant(value: unknown): value is string {
  return typeof value === 'string' && value.endsWith('Z') && Number.isInteger(Date.parse(value));
}

const INSTANT =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s?(Z|[+\- ]\d\d(?::?\d\d)?)?)?$/i;

function instantOf(text: string): Date | null {
  const parts = INSTANT.exec(text);
  if (parts === null) return null;
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = parts;
  const local = `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
  const time = new Date(local);
  // Date reads 30 February as 2 March, and hour 24 as the next day.
  if (year === '0000' || Number.isNaN(time.getTime()) || time.toISOString() !== local) return null;
  if (zone.toUpperCase() === 'Z') return time;
  // A plus sign that was not percent-encoded arrives as a space.
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3).replace(':', '') || '0')];
  if (hours > 23 || minutes > 59) return null;
  const at = new Date(time.getTime() - (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000);
  return at.getUTCFullYear() >= 1 && at.getUTCFullYear() <= 9999 ? at : null;
}

export function number(min: number, max: number) {
  const error = one(`must be a number from ${min} to ${max}`);
  return z.number({ error }).min(min, { error }).max(max, { error });
}

export function wholeNumber(min: number, max: number) {
  const error = one(`must be a whole number from ${min} to ${max}`);
  return z.int({ error }).min(min, { error }).max(max, { error });
}

export function flag() {
  return z.boolean({ error: one('must be one of true, false') });
}

function one(message: string) {
  return ({ input }: { readonly input?: unknown }) => {
    if (input === undefined) return undefined;
    return Array.isArray(input) ? 'must be one string, not a list' : message;
  };
}

/**
 * The parameters of a query, which are text, each as its field expects it. What does not have that form stays as it is, for the
 * field to refuse.
 */
export function typed(fields: z.ZodObject, query: object): object {
  const shape: Readonly<Record<string, z.ZodType>> = fields.shape;
  return Object.fromEntries(
    Object.entries(query).map(([name, given]) => [
      name,
      Object.hasOwn(shape, name) ? typedValue(shape[name]!, given) : given,
    ]),
  );
}

function typedValue(field: z.ZodType, given: unknown): unknown {
  if (field instanceof z.ZodOptional || field instanceof z.ZodDefault || field instanceof z.ZodNullable)
    return typedValue(field.unwrap() as z.ZodType, given);
  if (typeof given !== 'string') return given;
  if (field instanceof z.ZodArray) return [given];
  if (field instanceof z.ZodBoolean) return given === 'true' || (given === 'false' ? false : given);
  // Clients that compute a number may send many digits.
  const isNumber =
    field instanceof z.ZodNumber && (field.isInt ? /^\d{1,10}$/ : /^\d{1,9}(?:\.\d{1,30})?$/).test(given);
  return isNumber ? Number(given) : given;
}

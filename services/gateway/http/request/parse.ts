import { typed } from '@call-analysis/api/fields';
import { Uuid } from '@call-analysis/events';
import { type FieldFault, invalidFields, kindName, nearestName, notFound } from '@call-analysis/fault';
import type { z } from 'zod';

/** With more unknown names than this the mistake is another one, and listing them all would make a large response. */
const MAX_UNKNOWN = 100;
const MAX_NAME_LENGTH = 100;
/** Of more known names a message refers to the documentation. */
const MAX_KNOWN_SHOWN = 10;

const SIZES: ReadonlySet<string | undefined> = new Set(['too_small', 'too_big']);

/** The value as the schema's output. Throws VALIDATION_ERROR with all faults. */
export function parse<Schema extends z.ZodObject>(schema: Schema, value: object, given = value): z.output<Schema> {
  // The names that an object knows, by the list of those that it does not.
  const known = new Map<readonly string[], readonly string[]>();
  const error = (issue: z.core.$ZodRawIssue) => {
    if (issue.code === 'unrecognized_keys')
      known.set(issue.keys, Object.keys((issue.inst as Partial<z.ZodObject>).shape ?? {}));
    return requirement(issue);
  };
  const result = schema.safeParse(value, { error, reportInput: true });
  if (result.success) return result.data;
  const { issues } = result.error;
  // zod measures also what is not of the kind that the limit is for.
  const ofAnotherKind = new Set(issues.filter(({ code }) => code === 'invalid_type').map(({ path }) => path.join('.')));
  const told = issues.filter(({ code, path }) => !SIZES.has(code) || !ofAnotherKind.has(path.join('.')));
  throw invalidFields(told.flatMap((issue) => fieldFaults(issue, given, known)));
}

/** The same of query parameters, which are text. */
export function parseQuery<Schema extends z.ZodObject>(schema: Schema, query: object): z.output<Schema> {
  return parse(schema, typed(schema, query), query);
}

/** Query parameters by name. A repeated one is an array. */
export function queryOf(url: string): object {
  const at = url.indexOf('?');
  const query: Record<string, string | string[]> = Object.create(null);
  if (at === -1) return query;
  const given = new URLSearchParams(url.slice(at + 1));
  for (const name of new Set(given.keys())) {
    const values = given.getAll(name);
    query[name] = values.length === 1 ? (values[0] ?? '') : values;
  }
  return query;
}

function fieldFaults(
  issue: z.core.$ZodIssue,
  given: object,
  known: ReadonlyMap<readonly string[], readonly string[]>,
): FieldFault[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, MAX_UNKNOWN).map((name) => {
      const message = `is not known; ${adviceFor(name, known.get(issue.keys) ?? [])}`;
      return { field: [...issue.path, name.slice(0, MAX_NAME_LENGTH)].join('.'), code: 'UNKNOWN_FIELD', message };
    });
  }
  return [{ field: fieldName(issue.path, given), code: codeOf(issue), message: issue.message }];
}

/** Nothing, an empty text and blanks alone are the same fault. */
function codeOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'custom' && issue.params?.['code'] === 'REQUIRED') return 'REQUIRED';
  const isMissing = issue.code === 'invalid_type' && issue.input === undefined;
  const isEmpty = issue.code === 'too_small' && issue.origin === 'string' && issue.minimum === 1;
  return isMissing || isEmpty ? 'REQUIRED' : 'INVALID';
}

function adviceFor(unknown: string, known: readonly string[]): string {
  if (known.length === 0) return 'no fields are accepted here';
  const meant = nearestName(unknown, known);
  if (meant !== undefined) return `did you mean ${meant}?`;
  return known.length > MAX_KNOWN_SHOWN ? 'leave it out; /docs lists what is known' : `known are ${known.join(', ')}`;
}

/** A query parameter that was sent once has no index, although its schema made a list of it. */
function fieldName(path: readonly PropertyKey[], given: object): string {
  const [name = ''] = path;
  return typeof Reflect.get(given, name) === 'string' ? String(name) : path.join('.');
}

/** The requirement on a value whose schema has no message. The text follows the field's name. */
function requirement(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required';
      if (Array.isArray(issue.input) && issue.expected === 'string') return 'must be one string, not a list';
      return `must be ${kindName(issue.expected)}${issue.input === null ? ', not null; leave it out' : ''}`;
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    case 'too_small':
      if (issue.minimum === 1 && issue.origin in PARTS) return 'must not be empty';
      return limit(issue.origin, `at least ${issue.minimum}`);
    case 'too_big':
      return limit(issue.origin, `at most ${issue.maximum}`);
    default:
      return 'is not valid';
  }
}

/** What a limit counts. Of a number it limits the value itself. */
const PARTS: Readonly<Record<string, string>> = { string: 'characters', array: 'entries' };

function limit(origin: string, bound: string): string {
  const parts = PARTS[origin];
  return parts === undefined ? `must be ${bound}` : `must have ${bound} ${parts}`;
}

/** A uuid in a path. Anything else is NOT_FOUND. */
export function pathUuid(given: string | undefined, thing: string): string {
  const parsed = Uuid.safeParse(given);
  if (!parsed.success) throw notFound(thing);
  return parsed.data;
}

import { CallItem } from '@call-analysis/api/calls';

/** How the values of a column are written. Times are ISO 8601 text in UTC, local times without a zone; `json` is JSON text. */
export type ColumnKind = 'text' | 'time' | 'local-time' | 'number' | 'integer' | 'json';

export interface Column {
  readonly name: string;
  readonly kind: ColumnKind;
}

/** One call: a value for each column as text, in the order of the columns. */
export type Row = readonly (string | null)[];

/** The fields that are no text. */
const KINDS: Readonly<Record<string, ColumnKind>> = {
  start_time: 'time',
  duration: 'number',
  score: 'number',
  failure: 'json',
  created_at: 'time',
  updated_at: 'time',
  needs_review: 'integer',
  questions: 'integer',
  answered: 'integer',
  reviewed_at: 'time',
};

/** The fields of Get Calls' items, in their order. export-store.ts makes its statement of them. */
export const CALL_FIELDS: readonly Column[] = Object.keys(CallItem.omit({ attempt: true }).shape).map((name) => ({
  name,
  kind: KINDS[name] ?? 'text',
}));

/** The places of the times among the fields. */
export const TIMES: readonly number[] = CALL_FIELDS.flatMap(({ kind }, at) => (kind === 'time' ? [at] : []));

/**
 * The columns of an export: the fields, their times again in a time zone, unless that is UTC, questions and the transcript. `headings` name the fields of calls and `transcript` otherwise than the API does. A name that occurs
 * before gets a number, because some formats need distinct names.
 */
export function columnsOf(
  questions: readonly { readonly text: string }[],
  hasTranscripts: boolean,
  headings: Readonly<Record<string, string>> = {},
  timeZone = 'UTC',
): Column[] {
  const names = new Set<string>();
  const named = ({ name, kind }: Column): Column => {
    let distinct = name;
    for (let number = 2; names.has(distinct); number += 1) distinct = `${name} (${number})`;
    names.add(distinct);
    return { name: distinct, kind };
  };
  const headed = ({ name, kind }: Column) =>
    named({ name: Object.hasOwn(headings, name) ? headings[name]! : name, kind });
  const fields = CALL_FIELDS.map(headed);
  const local = timeZone === 'UTC' ? [] : fields.filter(({ kind }) => kind === 'time');
  // A heading may say that its times are in UTC.
  const localName = (name: string) => `${name.replace(/ \(UTC\)$/u, '')} (${timeZone})`;
  const localTimes = local.map(({ name }) => named({ name: localName(name), kind: 'local-time' }));
  const transcript = hasTranscripts ? [headed({ name: 'transcript', kind: 'text' })] : [];
  return [...fields, ...localTimes, ...questions.map(({ text }) => named({ name: text, kind: 'text' })), ...transcript];
}

/** Writes a file in one format. The pieces of the file follow the pages, so that memory does not grow with it. */
export type Format = (columns: readonly Column[], pages: AsyncIterable<readonly Row[]>) => AsyncIterable<Buffer>;

/** How the values of a column are written. Times are ISO 8601 text in UTC, local times without a zone; `json` is JSON text. */
export type ColumnKind = 'text' | 'time' | 'local-time' | 'number' | 'integer' | 'json';

export interface Column {
  readonly name: string;
  readonly kind: ColumnKind;
}

/** One call: a value for each column as text, in the order of the columns. */
export type Row = readonly (string | null)[];

/** The fields of Get Calls' items, in their order. The statement of export-store.ts reads them in this order. */
const CALL_FIELDS: readonly Column[] = [
  { name: 'uuid', kind: 'text' },
  { name: 'source', kind: 'text' },
  { name: 'status', kind: 'text' },
  { name: 'outcome', kind: 'text' },
  { name: 'partner_call_id', kind: 'text' },
  { name: 'client_phone_number', kind: 'text' },
  { name: 'operator_name', kind: 'text' },
  { name: 'operator_id', kind: 'text' },
  { name: 'operator_group_name', kind: 'text' },
  { name: 'direction', kind: 'text' },
  { name: 'segment_type', kind: 'text' },
  { name: 'start_time', kind: 'time' },
  { name: 'duration', kind: 'number' },
  { name: 'disconnect_reason', kind: 'text' },
  { name: 'language', kind: 'text' },
  { name: 'score', kind: 'number' },
  { name: 'batch_id', kind: 'text' },
  { name: 'campaign_id', kind: 'text' },
  { name: 'failure', kind: 'json' },
  { name: 'created_at', kind: 'time' },
  { name: 'updated_at', kind: 'time' },
  { name: 'needs_review', kind: 'integer' },
  { name: 'questions', kind: 'integer' },
  { name: 'answered', kind: 'integer' },
  { name: 'reviewed_at', kind: 'time' },
  { name: 'score_source', kind: 'text' },
  { name: 'assigned_to', kind: 'text' },
  { name: 'sampled_by', kind: 'text' },
];

/** The places of the times among the fields. */
export const TIMES: readonly number[] = CALL_FIELDS.flatMap(({ kind }, at) => (kind === 'time' ? [at] : []));

/**
 * The columns of an export: the fields; their times again in a time zone, unless that is UTC; questions; and the transcript. A name
 * that occurs before gets a number, because some formats need distinct names.
 */
export function columnsOf(
  questions: readonly { readonly text: string }[],
  hasTranscripts: boolean,
  timeZone: string = 'UTC',
): Column[] {
  const columns = [...CALL_FIELDS];
  if (timeZone !== 'UTC')
    for (const at of TIMES) columns.push({ name: `${CALL_FIELDS[at]!.name} (${timeZone})`, kind: 'local-time' });
  const names = new Set(columns.map(({ name }) => name));
  if (hasTranscripts) names.add('transcript');
  for (const { text } of questions) {
    let name = text;
    for (let number = 2; names.has(name); number += 1) name = `${text} (${number})`;
    names.add(name);
    columns.push({ name, kind: 'text' });
  }
  return hasTranscripts ? [...columns, { name: 'transcript', kind: 'text' }] : columns;
}

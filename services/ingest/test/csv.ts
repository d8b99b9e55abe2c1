const columns = [
  'partner_call_id',
  'client_phone_number',
  'operator_name',
  'duration',
  'anonymized_text',
  'start_time',
  'segment_type',
] as const;

export type CsvRow = Partial<Record<(typeof columns)[number], string>>;

const validRow: CsvRow = {
  client_phone_number: '+998901234567',
  operator_name: 'Aziza',
  duration: '60',
  anonymized_text: '<operator>Hello<client>Hi',
  start_time: '2026-01-02T03:04:05',
  segment_type: 'support',
};

/** A CSV of transcripts. Columns that a row leaves out get a valid value. Values must not need quotes. */
export function csvOf(rows: readonly CsvRow[]): string {
  const lines = rows.map((row) => columns.map((name) => row[name] ?? validRow[name] ?? '').join(','));
  return [columns.join(','), ...lines, ''].join('\n');
}

const audioColumns = [
  'audio_file_name',
  'client_phone_number',
  'operator_name',
  'start_time',
  'segment_type',
  'right_channel',
  'left_channel',
  'partner_call_id',
] as const;

export type AudioRow = Partial<Record<(typeof audioColumns)[number], string>>;

export const goodAudio = {
  audio_file_name: 'call.wav',
  client_phone_number: '+998901234567',
  operator_name: 'Aziza',
  start_time: '2026-01-02T03:04:05',
  segment_type: 'support',
  right_channel: 'client',
  left_channel: 'operator',
};

/** A CSV of recordings. Columns that a row leaves out get a valid value. Values must not need quotes. */
export function audioCsvOf(rows: readonly AudioRow[]): string {
  const complete = rows.map((row): AudioRow => ({ ...goodAudio, ...row }));
  const lines = complete.map((row) => audioColumns.map((name) => row[name] ?? '').join(','));
  return [audioColumns.join(','), ...lines, ''].join('\n');
}

/** `count` copies of one row: by default a valid row without a partner_call_id. */
export function rowsOf(count: number, row: CsvRow = {}): CsvRow[] {
  return Array.from({ length: count }, () => row);
}

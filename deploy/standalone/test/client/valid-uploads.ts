const transcript = {
  client_phone_number: '+998901234567',
  operator_name: 'Ann',
  duration: '60',
  anonymized_text: '"<operator>Good morning, this is Ann, how can I help you?<client>My parcel is late."',
  start_time: '2026-10-01T09:00:00',
  segment_type: 'support',
  partner_call_id: '',
};

const recording = {
  client_phone_number: '+998901234567',
  operator_name: 'Ann',
  start_time: '2026-10-01T09:00:00Z',
  segment_type: 'support',
  left_channel: 'operator',
  right_channel: 'client',
};

/** An `operator_id` is a further column, which all rows of a file have, or none. */
type Transcript = Partial<typeof transcript> & { operator_id?: string };

const line = (cells: readonly string[]) => `${cells.join(',')}\n`;

/** The header of a CSV of transcripts. */
export const header = line(Object.keys(transcript));

/** A row of such a CSV, valid except for `values`. Values that need quotes must include them. */
export function row(values: Transcript = {}): string {
  return line(Object.values({ ...transcript, ...values }));
}

/** A CSV of transcripts. */
export function csvOf(rows: readonly Transcript[]): string {
  return line(Object.keys({ ...transcript, ...rows[0] })) + rows.map((values) => row(values)).join('');
}

/** The metadata of a recording, valid except for `values`. */
export function metadataOf(fileName: string, values: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { audio_file_name: fileName, ...recording, ...values };
}

/** A CSV of recordings. All of them must have the same columns. */
export function recordingsCsvOf(files: readonly Readonly<Record<string, string>>[]): string {
  return [Object.keys(files[0] ?? {}), ...files.map((values) => Object.values(values))].map(line).join('');
}

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

type Transcript = Partial<typeof transcript>;

const line = (cells: readonly string[]) => `${cells.join(',')}\n`;

/** The first line of a CSV of transcripts. */
export const header = line(Object.keys(transcript));

/** A further line of it, good in all that is left unsaid. A value that needs quotes brings them. */
export function row(said: Transcript = {}): string {
  return line(Object.values({ ...transcript, ...said }));
}

/** A CSV of transcripts. */
export function csvOf(rows: readonly Transcript[]): string {
  return header + rows.map((said) => row(said)).join('');
}

/** What is said of a recording, good in all that is left unsaid. */
export function metadataOf(fileName: string, said: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { audio_file_name: fileName, ...recording, ...said };
}

/** A CSV of recordings, of all of which the same is said. */
export function recordingsCsvOf(files: readonly Readonly<Record<string, string>>[]): string {
  return [Object.keys(files[0] ?? {}), ...files.map((said) => Object.values(said))].map(line).join('');
}

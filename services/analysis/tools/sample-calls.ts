import { readFileSync } from 'node:fs';
import type { Language } from '@call-analysis/events';
import { parseString } from 'fast-csv';

/** A call of samples/transcripts.csv with the assessment in samples/expected.json. */
export interface SampleCall {
  /** The transcript with role tags, as it is uploaded. */
  readonly text: string;
  readonly language: Language;
  readonly quality: 'good' | 'bad' | 'mixed';
}

const samples = new URL('../../../samples/', import.meta.url);

export async function readSampleCalls(): Promise<SampleCall[]> {
  const expected: Record<string, Pick<SampleCall, 'language' | 'quality'>> = JSON.parse(read('expected.json'));
  const calls: SampleCall[] = [];
  const rows = parseString<Record<string, string>, Record<string, string>>(read('transcripts.csv'), { headers: true });
  for await (const row of rows as AsyncIterable<Record<string, string>>) {
    const assessment = expected[row['partner_call_id'] ?? ''];
    if (assessment !== undefined) calls.push({ text: row['anonymized_text'] ?? '', ...assessment });
  }
  return calls;
}

function read(name: string): string {
  return readFileSync(new URL(name, samples), 'utf8');
}

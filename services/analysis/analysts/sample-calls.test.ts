import { readFileSync } from 'node:fs';
import { type Language, Role, type Utterance } from '@call-analysis/events';
import { describe, expect, it } from '@jest/globals';
import { parseString } from 'fast-csv';
import { defaultScorecard } from '../scorecards/default-scorecard.ts';
import { analyzeByRules } from './rule-analyst.ts';
import { recognizeLanguage } from './rules/recognize-language.ts';

/** A call of samples/transcripts.csv with the assessment in samples/expected.json. */
interface SampleCall {
  /** The transcript with role tags, as it is uploaded. */
  readonly text: string;
  readonly language: Language;
  readonly quality: 'good' | 'bad' | 'mixed';
}

async function readSampleCalls(): Promise<SampleCall[]> {
  const read = (name: string) => readFileSync(new URL(`../../../samples/${name}`, import.meta.url), 'utf8');
  const expected: Record<string, Pick<SampleCall, 'language' | 'quality'>> = JSON.parse(read('expected.json'));
  const calls: SampleCall[] = [];
  const rows = parseString<Record<string, string>, Record<string, string>>(read('transcripts.csv'), { headers: true });
  for await (const row of rows as AsyncIterable<Record<string, string>>) {
    const assessment = expected[row['partner_call_id'] ?? ''];
    if (assessment !== undefined) calls.push({ text: row['anonymized_text'] ?? '', ...assessment });
  }
  return calls;
}

const TAG = /<(operator|оператор|operador|client|клиент|абонент|mijoz|cliente|кардар)>/giu;
const OPERATORS = new Set(['operator', 'оператор', 'operador']);

const samples = await readSampleCalls();
const calls = samples.map((sample) => {
  const tags = new Set<string>();
  const utterances: Utterance[] = [...sample.text.matchAll(/<(\p{L}+)>([^<]*)/gu)].map(([, tag = '', text = '']) => {
    tags.add(tag.toLowerCase());
    const role = OPERATORS.has(tag.toLowerCase()) ? Role.enum.operator : Role.enum.client;
    return { role, text: text.trim(), start: null, end: null };
  });
  const language = recognizeLanguage(utterances, [...tags]);
  const result = analyzeByRules(
    { language, firmLanguage: 'en', tags: [...tags], segmentType: 'x', duration: null, utterances },
    defaultScorecard,
  );
  return { sample, language, score: result.score ?? -1 };
});

function shareOf(quality: string, holds: (score: number) => boolean): number {
  const assessed = calls.filter(({ sample }) => sample.quality === quality);
  return assessed.filter(({ score }) => holds(score)).length / assessed.length;
}

describe('the sample calls', () => {
  it('score 70 or more in at least 95 % of the good ones', () => {
    expect(shareOf('good', (score) => score >= 70)).toBeGreaterThanOrEqual(0.95);
  });

  it('score 45 or less in at least 95 % of the bad ones', () => {
    expect(shareOf('bad', (score) => score <= 45)).toBeGreaterThanOrEqual(0.95);
  });

  it('are all recognized in their language, and 90 % of them from their first 20 characters', () => {
    expect(calls.every(({ language, sample }) => language === sample.language)).toBe(true);
    const early = samples.filter(({ text, language }) => {
      const beginning = text.replace(TAG, ' ').trim().slice(0, 20);
      return recognizeLanguage([{ text: beginning }], []) === language;
    });
    expect(early.length / samples.length).toBeGreaterThanOrEqual(0.9);
  });
});

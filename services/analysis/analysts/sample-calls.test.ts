import { Role, type Utterance } from '@call-analysis/events';
import { describe, expect, it } from '@jest/globals';
import { defaultScorecard } from '../scorecards/default-scorecard.ts';
import { measureLanguageAccuracy } from '../tools/language-accuracy.ts';
import { readSampleCalls } from '../tools/sample-calls.ts';
import { analyzeByRules } from './rule-analyst.ts';
import { recognizeLanguage } from './rules/recognize-language.ts';

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
    const short = measureLanguageAccuracy(samples).filter(({ characters }) => characters === 20);
    const total = short.reduce((sum, each) => sum + each.total, 0);
    expect(short.reduce((sum, each) => sum + each.serviceWithoutTags, 0) / total).toBeGreaterThanOrEqual(0.9);
  });
});

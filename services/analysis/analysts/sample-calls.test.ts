import { readFileSync } from 'node:fs';
import { type Language, Role, type Utterance } from '@call-analysis/events';
import { describe, expect, it } from '@jest/globals';
import { recognizeLanguage } from '../rules/recognize-language.ts';
import { defaultScorecard } from '../scorecards/default-scorecard.ts';
import { measureLanguageAccuracy, readCsv } from '../tools/language-accuracy.ts';
import { analyzeByRules } from './rule-analyst.ts';

const samples = new URL('../../../samples/', import.meta.url);
const expected: Record<string, { language: Language; quality: 'good' | 'bad' | 'mixed' }> = JSON.parse(
  readFileSync(new URL('expected.json', samples), 'utf8'),
);
const OPERATORS = new Set(['operator', 'оператор', 'operador']);

const calls = readCsv(readFileSync(new URL('transcripts.csv', samples), 'utf8')).flatMap((row) => {
  const judged = expected[row['partner_call_id'] ?? ''];
  if (judged === undefined) return [];
  const text = row['anonymized_text'] ?? '';
  const tags = new Set<string>();
  const utterances: Utterance[] = [...text.matchAll(/<(\p{L}+)>([^<]*)/gu)].map(([, tag = '', said = '']) => {
    tags.add(tag.toLowerCase());
    const role = OPERATORS.has(tag.toLowerCase()) ? Role.enum.operator : Role.enum.client;
    return { role, text: said.trim(), start: null, end: null };
  });
  const language = recognizeLanguage(utterances, [...tags]);
  const verdict = analyzeByRules(
    { language, tags: [...tags], segmentType: 'x', duration: null, utterances },
    defaultScorecard,
  );
  return [{ text, judged, language, score: verdict.score ?? -1 }];
});

function shareOf(quality: string, holds: (score: number) => boolean): number {
  const judged = calls.filter((call) => call.judged.quality === quality);
  return judged.filter(({ score }) => holds(score)).length / judged.length;
}

describe('of the sample calls', () => {
  it('nearly all good ones score 70 or more', () => {
    expect(shareOf('good', (score) => score >= 70)).toBeGreaterThanOrEqual(0.95);
  });

  it('nearly all bad ones score 45 or less', () => {
    expect(shareOf('bad', (score) => score <= 45)).toBeGreaterThanOrEqual(0.95);
  });

  it('nearly all mixed ones stand between the worst and the best', () => {
    expect(shareOf('mixed', (score) => score >= 30 && score <= 85)).toBeGreaterThanOrEqual(0.9);
  });

  it('every one is recognised in its language, and nearly every one by its first 20 characters', () => {
    expect(calls.every(({ language, judged }) => language === judged.language)).toBe(true);
    const short = measureLanguageAccuracy(
      calls.map(({ text, judged }) => ({ text, language: judged.language })),
    ).filter(({ characters }) => characters === 20);
    const total = short.reduce((sum, each) => sum + each.total, 0);
    expect(short.reduce((sum, each) => sum + each.oursWithoutTags, 0) / total).toBeGreaterThanOrEqual(0.9);
  });
});

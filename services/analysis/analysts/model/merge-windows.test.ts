import { describe, expect, it } from '@jest/globals';
import { modelQuestions, modelScorecard } from '../../test/model-scorecard.ts';
import { type CheckedAnswer, mergeAnswers, mergeReplies } from './check-answers.ts';
import type { RawReply } from './read-reply.ts';

const [, solution, respect] = modelScorecard().sections[0]!.questions;

function answer(label: string | null, change: Partial<CheckedAnswer> = {}): CheckedAnswer {
  const proved = { hasLostQuote: false, isUnproved: false };
  return { label, confidence: 0.8, evidence: [], explanation: '', ...proved, ...change };
}

const quote = (utterance: number) => ({ utterance, quote: 'So.', start_char: 0, end_char: 3 });

describe('the answers of the windows of a long call', () => {
  it('are one: that something happened wins over that nothing did, and that over “does not apply”', () => {
    const [none, no, yes] = [answer(null), answer('No'), answer('Yes', { evidence: [quote(4)] })];
    expect(mergeAnswers(solution!, [no, yes, none])).toMatchObject({ label: 'Yes', isDisputed: false });
    expect(mergeAnswers(solution!, [none, no, none])).toMatchObject({ label: 'No' });
    expect(mergeAnswers(solution!, [none, none])).toMatchObject({ label: null });
    expect(mergeAnswers(solution!, [])).toBeNull();
  });

  it('count without their quote only where no window has a better one', () => {
    const unproved = answer('Yes', { isUnproved: true, confidence: 1 });
    expect(mergeAnswers(solution!, [unproved, answer('No')])).toMatchObject({ label: 'No' });
    expect(mergeAnswers(solution!, [unproved, answer(null)])).toMatchObject({ label: 'Yes', isUnproved: true });
  });

  it('fail the call if one window does, even if others are surer; different answers are disputed', () => {
    const abusive = answer('Abusive', { confidence: 0.75, evidence: [quote(9)] });
    const polite = answer('Respectful', { confidence: 1, evidence: [quote(1)] });
    expect(mergeAnswers(respect!, [abusive, polite])).toMatchObject({ label: 'Abusive' });
    const three = modelScorecard([
      {
        ...modelQuestions.solution,
        choices: [
          { label: 'Full', points: 2 },
          { label: 'Part', points: 1 },
          { label: 'No', points: 0 },
        ],
      },
    ]).sections[0]!.questions[0]!;
    const [full, part] = [answer('Full', { confidence: 0.7 }), answer('Part', { confidence: 0.9 })];
    expect(mergeAnswers(three, [full, part])).toMatchObject({ label: 'Part', isDisputed: true });
    expect(mergeAnswers(three, [full, answer('Part', { confidence: 0.7 })])).toMatchObject({ label: 'Part' });
  });

  it('keep the quotes of the windows that agree, each once, and three at most', () => {
    const windows = [[quote(1), quote(2)], [quote(2), quote(3)], [quote(4)]];
    const merged = mergeAnswers(
      solution!,
      windows.map((evidence) => answer('Yes', { evidence })),
    );
    expect(merged!.evidence.map(({ utterance }) => utterance)).toEqual([1, 2, 3]);
  });
});

it('the results of windows for the whole call are joined: the first reason, the last resolution, the most frequent topics, the mean sentiment with the first start and the last end', () => {
  const unknown = { operator: null, client: null };
  const reply = (change: Partial<RawReply>): RawReply => ({
    answers: [],
    summary: '',
    reason: null,
    resolution: null,
    topics: [],
    sentiment: { ...unknown, start: unknown, end: unknown },
    manipulation: null,
    ...change,
  });
  const merged = mergeReplies([
    reply({ summary: 'First.', reason: 'A parcel.', resolution: 'unresolved', topics: ['delivery'] }),
    reply({
      sentiment: { operator: 0.5, client: -1, start: { operator: 0.25, client: -0.5 }, end: unknown },
      topics: ['billing', 'delivery'],
    }),
    reply({
      summary: 'Last.',
      reason: 'Later.',
      resolution: 'resolved',
      sentiment: {
        operator: 0,
        client: null,
        start: { operator: 1, client: 1 },
        end: { operator: 0.75, client: 0.5 },
      },
    }),
  ]);
  expect(merged).toMatchObject({
    summary: 'First.\nLast.',
    reason: 'A parcel.',
    resolution: 'resolved',
    topics: ['delivery', 'billing'],
    sentiment: {
      operator: 0.25,
      client: -1,
      start: { operator: 0.25, client: -0.5 },
      end: { operator: 0.75, client: 0.5 },
    },
  });
});

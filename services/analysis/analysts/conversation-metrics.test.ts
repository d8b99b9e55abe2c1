import type { Utterance } from '@call-analysis/events';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { measureConversation } from './conversation-metrics.ts';

function utterance(role: Utterance['role'], start: number | null = null, end: number | null = null): Utterance {
  return { role, text: 'x', start, end };
}

describe('conversation metrics', () => {
  it('are measured in words when times are unknown', () => {
    const metrics = measureConversation(
      [utterance('operator'), utterance('operator'), utterance('client')],
      [4, 2, 2],
      1,
      60,
    );
    expect(metrics).toEqual({
      talk_ratio: { operator: 0.75, client: 0.25, silence: null },
      interruptions: null,
      longest_monologue: { operator: 6, client: 2 },
      words: { operator: 6, client: 2 },
      questions_asked: 1,
    });
  });

  it('include seconds, silence and interruptions when times are known', () => {
    const metrics = measureConversation(
      [utterance('operator', 0, 4), utterance('client', 3, 6), utterance('client', 6, 8)],
      [1, 1, 1],
      0,
      10,
    );
    expect(metrics.talk_ratio).toEqual({ operator: 0.364, client: 0.455, silence: 0.182 });
    expect(metrics.interruptions).toBe(1);
    expect(metrics.longest_monologue).toEqual({ operator: 4, client: 5 });
  });

  it('do not count a short overlap as an interruption', () => {
    expect(
      measureConversation([utterance('operator', 0, 4), utterance('client', 3.7, 6)], [1, 1], 0, null).interruptions,
    ).toBe(0);
  });

  it('are zero without utterances', () => {
    expect(measureConversation([], [], 0, null)).toMatchObject({
      talk_ratio: { operator: 0, client: 0, silence: null },
      interruptions: null,
    });
  });

  it('have shares between 0 and 1 for any times', () => {
    const time = fc.double({ min: 0, max: 1e6, noNaN: true });
    const anyUtterance = fc
      .tuple(fc.constantFrom('operator' as const, 'client' as const), time, time)
      .map(([role, start, end]) => utterance(role, start, end));
    fc.assert(
      fc.property(fc.array(anyUtterance, { maxLength: 10 }), fc.option(time), (utterances, duration) => {
        for (const share of Object.values(measureConversation(utterances, [], 0, duration).talk_ratio)) {
          expect(share === null || (share >= 0 && share <= 1)).toBe(true);
        }
      }),
    );
  });
});

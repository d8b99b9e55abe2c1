import { Utterance } from '@call-analysis/events';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { conversationOf, type TranscribedChannels } from './domain.ts';

const roles = { left: 'operator', right: 'client' } as const;
const utterance = (side: 'left' | 'right', start: number, end: number, text = `${side} at ${start}`) => ({
  side,
  start,
  end,
  text,
});

function conversation(utterances: TranscribedChannels['utterances'], isDualMono = false) {
  return conversationOf({ duration: 60, isDualMono, utterances }, roles);
}

describe('a conversation', () => {
  it('merges the utterances of both channels by time, with their roles', () => {
    const { utterances, notes } = conversation([
      utterance('right', 4.006, 6),
      utterance('left', 8, 9.999),
      utterance('left', 0.5, 3),
    ]);
    expect(utterances).toEqual([
      { role: 'operator', text: 'left at 0.5', start: 0.5, end: 3 },
      { role: 'client', text: 'right at 4.006', start: 4.01, end: 6 },
      { role: 'operator', text: 'left at 8', start: 8, end: 10 },
    ]);
    expect(notes).toEqual([]);
  });

  it('tells how sure the engine is of an utterance, where it is known', () => {
    const { utterances } = conversation([{ ...utterance('left', 1, 2), confidence: 0.456 }, utterance('left', 3, 4)]);
    expect(utterances.map(({ confidence }) => confidence)).toEqual([0.46, undefined]);
  });

  it('has a note that names the role of a silent channel', () => {
    expect(conversation([utterance('left', 1, 2)]).notes).toEqual(["Nothing is said on the client's (right) channel."]);
    const swapped = conversationOf(
      { duration: 9, isDualMono: false, utterances: [utterance('left', 1, 2)] },
      { left: 'client', right: 'operator' },
    );
    expect(swapped.notes).toEqual(["Nothing is said on the operator's (right) channel."]);
  });

  it('without utterances has no notes', () => {
    expect(conversation([])).toEqual({ utterances: [], notes: [] });
    expect(conversation([], true)).toEqual({ utterances: [], notes: [] });
  });

  it('of one recording on both channels appears once, with the left role and a note', () => {
    const { utterances, notes } = conversation(
      [utterance('left', 1, 3), utterance('right', 1.4, 3), utterance('right', 5, 6)],
      true,
    );
    expect(utterances.map(({ role, start }) => [role, start])).toEqual([
      ['operator', 1],
      ['operator', 5],
    ]);
    expect(notes).toEqual([expect.stringContaining('who speaks is unknown')]);
  });

  it('has valid utterances, ordered by time and within the recording, for any input', () => {
    const time = fc.double({ min: 0, max: 70, noNaN: true });
    const channels = fc.array(
      fc.record({
        side: fc.constantFrom('left' as const, 'right' as const),
        text: fc.string({ minLength: 1 }),
        start: time,
        end: time,
      }),
    );
    fc.assert(
      fc.property(channels, fc.boolean(), (lines, isDualMono) => {
        const { utterances } = conversation(
          lines.filter(({ start, end }) => start <= end),
          isDualMono,
        );
        for (const [index, utterance] of utterances.entries()) {
          expect(Utterance.safeParse(utterance).success).toBe(true);
          expect(utterance.end!).toBeGreaterThanOrEqual(utterance.start!);
          expect(utterance.end!).toBeLessThanOrEqual(60);
          if (index > 0) expect(utterance.start!).toBeGreaterThanOrEqual(utterances[index - 1]!.start!);
        }
      }),
    );
  });
});

import { Utterance } from '@call-analysis/events';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { conversationOf, type Recorded } from './domain.ts';

const roles = { left: 'operator', right: 'client' } as const;
const line = (side: 'left' | 'right', start: number, end: number, text = `${side} at ${start}`) => ({
  side,
  start,
  end,
  text,
});

function conversation(said: Recorded['said'], oneSound = false) {
  return conversationOf({ duration: 60, oneSound, said }, roles);
}

describe('a conversation', () => {
  it('is what both sides say, by time, under their roles', () => {
    const { utterances, notes } = conversation([line('right', 4.006, 6), line('left', 8, 9.999), line('left', 0.5, 3)]);
    expect(utterances).toEqual([
      { role: 'operator', text: 'left at 0.5', start: 0.5, end: 3 },
      { role: 'client', text: 'right at 4.006', start: 4.01, end: 6 },
      { role: 'operator', text: 'left at 8', start: 8, end: 10 },
    ]);
    expect(notes).toEqual([]);
  });

  it('says of a silent channel whose it is', () => {
    expect(conversation([line('left', 1, 2)]).notes).toEqual(["Nothing is said on the client's (right) channel."]);
    const turned = conversationOf(
      { duration: 9, oneSound: false, said: [line('left', 1, 2)] },
      { left: 'client', right: 'operator' },
    );
    expect(turned.notes).toEqual(["Nothing is said on the operator's (right) channel."]);
  });

  it('without a word has nothing to say about itself', () => {
    expect(conversation([])).toEqual({ utterances: [], notes: [] });
    expect(conversation([], true)).toEqual({ utterances: [], notes: [] });
  });

  it('of one recording on both channels is told once, as the left side, with a warning', () => {
    const { utterances, notes } = conversation([line('left', 1, 3), line('right', 1.4, 3), line('right', 5, 6)], true);
    expect(utterances.map(({ role, start }) => [role, start])).toEqual([
      ['operator', 1],
      ['operator', 5],
    ]);
    expect(notes).toEqual([expect.stringContaining('who speaks is unknown')]);
  });

  it('has valid utterances in order of time within the recording, whatever was heard', () => {
    const time = fc.double({ min: 0, max: 70, noNaN: true });
    const said = fc.array(
      fc.record({
        side: fc.constantFrom('left' as const, 'right' as const),
        text: fc.string({ minLength: 1 }),
        start: time,
        end: time,
      }),
    );
    fc.assert(
      fc.property(said, fc.boolean(), (lines, oneSound) => {
        const { utterances } = conversation(
          lines.filter(({ start, end }) => start <= end),
          oneSound,
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

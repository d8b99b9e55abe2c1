import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { Transitions } from './phrasebook.ts';

const number = fc.oneof(fc.nat(40), fc.nat(70_000));

describe('Transitions', () => {
  it('leads where a Map does, however many there are', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(number, number), { maxLength: 3_000, size: 'max' }), (pairs) => {
        const transitions = new Transitions();
        const expected = new Map<string, number>();
        for (const [node, symbol] of pairs) {
          const key = `${node} ${symbol}`;
          expect(transitions.get(node, symbol)).toBe(expected.get(key) ?? 0);
          if (expected.has(key)) continue;
          expected.set(key, expected.size + 1);
          transitions.add(node, symbol, expected.size);
        }
        for (const [node, symbol] of pairs) {
          expect(transitions.get(node, symbol)).toBe(expected.get(`${node} ${symbol}`));
          expect(transitions.get(symbol, node)).toBe(expected.get(`${symbol} ${node}`) ?? 0);
        }
      }),
      { numRuns: 20 },
    );
  });
});

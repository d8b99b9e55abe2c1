import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { wordErrors } from './word-errors.ts';

const sentence = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 }).map((words) => words.join(' '));

describe('word errors', () => {
  it.each([
    ['the cat sat', 'the cat sat', 0, 3],
    ['the cat sat', 'the bat sat', 1, 3],
    ['the cat sat', 'the sat', 1, 3],
    ['the cat sat', 'the cat has sat down', 2, 3],
    ['', 'something', 1, 0],
    ["It's Wi-Fi, isn't it?", 'its wi fi isnt it', 0, 5],
  ])('are counted in %j transcribed as %j', (reference, text, errors, words) => {
    expect(wordErrors(reference, text)).toEqual({ errors, words });
  });

  it('are a metric: zero only between equal texts, symmetric, and no detour is shorter', () => {
    const distance = (a: string, b: string) => wordErrors(a, b).errors;
    fc.assert(
      fc.property(sentence, sentence, sentence, (a, b, c) => {
        expect(distance(a, b) === 0).toBe(a === b);
        expect(distance(a, b)).toBe(distance(b, a));
        expect(distance(a, c)).toBeLessThanOrEqual(distance(a, b) + distance(b, c));
      }),
    );
  });
});

import { describe, expect, it } from '@jest/globals';
import { mentionsIn, nameBeingTyped } from './mentions.ts';

const people = [
  { uuid: 'ann', name: 'Ann' },
  { uuid: 'anna', name: 'Anna Petrova' },
];

describe('mentions', () => {
  it('are found by the whole name, of names that begin alike by the longest', () => {
    expect(mentionsIn('@Anna Petrova, and @Ann: look. a@b.example', people)).toEqual([
      { uuid: 'anna', start: 0, end: 13 },
      { uuid: 'ann', start: 19, end: 23 },
    ]);
  });

  it('are being typed after a sign at the beginning of a word, up to a second word', () => {
    expect(nameBeingTyped('Look, @An', 9)).toBe('An');
    expect(nameBeingTyped('Look, @Anna Pe', 14)).toBe('Anna Pe');
    expect(nameBeingTyped('@', 1)).toBe('');
    expect(nameBeingTyped('a@b', 3)).toBeNull();
    expect(nameBeingTyped('@Anna Petrova look', 18)).toBeNull();
  });
});

import { describe, expect, it } from '@jest/globals';
import { foldedWords, textErrors } from './text-errors.ts';

describe('texts are compared', () => {
  it.each([
    ['en', 'It’s 21 O’Clock, naïve!', 'its twenty one oclock naive'],
    ['en', 'Extension 4021.', 'extension four zero two one'],
    ['ru', 'Ещё 3 звонка, й', 'еще три звонка й'],
    ['es', '¿Cuántos? ¡Dieciséis!', 'cuantos dieciseis'],
    ['fr', 'Numéro 7', 'numero 7'],
  ])('without case, punctuation, accents and the writing of numbers: %s %s', (language, text, words) => {
    expect(foldedWords(text, language).join(' ')).toBe(words);
  });

  it('by words and by letters', () => {
    expect(textErrors('the cat sat', 'the bat', 'en')).toEqual({
      wordErrors: 2,
      words: 3,
      letterErrors: 5,
      letters: 11,
    });
    expect(textErrors('', 'a', 'en')).toEqual({ wordErrors: 1, words: 0, letterErrors: 1, letters: 0 });
  });
});

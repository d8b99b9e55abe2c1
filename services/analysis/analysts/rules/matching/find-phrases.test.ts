import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { phraseFault } from '../../../scorecards/phrase-syntax.ts';
import { findPhrases } from './find-phrases.ts';
import { compilePhrasebook, type Negations } from './phrasebook.ts';
import { Words } from './words.ts';

/** The verbatim parts of a text that match the phrases of one concept. A longer match comes after a shorter one. */
function found(text: string, phrases: readonly string[], negations?: Negations): string[] {
  const book = compilePhrasebook([{ id: 0, phrases }], negations);
  const words = new Words();
  words.read(text, book);
  const pieces: string[] = [];
  findPhrases(words, book, (_concept, first, end) => {
    if (!words.isNegated(first, end, book)) pieces.push(text.slice(words.starts[first], words.ends[end - 1]));
  });
  return pieces;
}

describe('phrases are found', () => {
  it.each([
    ['in any case', 'HELLO World', ['hello world'], ['HELLO World']],
    [
      'across spaces and punctuation, and quoted as written',
      'Hello,\n  «world»!',
      ['hello world'],
      ['Hello,\n  «world'],
    ],
    ['as complete words only', 'othello hellos', ['hello'], []],
    ['by a prefix', 'Refunded, REFUNDING; fund', ['refund*'], ['Refunded', 'REFUNDING']],
    ['in Cyrillic as complete words', 'переделал дело делом', ['дело'], ['дело']],
    ['with ё or е', 'Приём', ['прием'], ['Приём']],
    [
      'in composed and decomposed form',
      'мо\u0438\u0306 cafe\u0301.',
      ['мой', 'café'],
      ['мо\u0438\u0306', 'cafe\u0301'],
    ],
    [
      'with any apostrophe or without one',
      "yo‘q yoʻq yo'q yo’q yo`q yoq",
      ["yo'q"],
      ['yo‘q', 'yoʻq', "yo'q", 'yo’q', 'yo`q', 'yoq'],
    ],
    [
      'with Kyrgyz and Uzbek letters or the Russian letters that replace them',
      'үчүн учун қарз карз',
      ['үчүн', 'қарз'],
      ['үчүн', 'учун', 'қарз', 'карз'],
    ],
    ['with dotted and dotless I', 'İptal IPTAL ıptal', ['iptal'], ['İptal', 'IPTAL', 'ıptal']],
    ['across a gap of up to three words', 'will a b c call. will a b c d call', ['will .. call'], ['will a b c call']],
    [
      'with one of several optional words',
      'thank you very much',
      ['thank you [very|so] much'],
      ['thank you very much'],
    ],
    ['with groups of words', 'please ring me back', ['please (call|ring me) back'], ['please ring me back']],
    ['with a number', 'in 24 hours', ['in # hours'], ['in 24 hours']],
    ['next to emoji without splitting them', '😀hello😀', ['hello'], ['hello']],
    ['beside words of letters beyond U+FFFF', '\u{1E922}\u{1E92B} hello \u{1E924}', ['hello'], ['hello']],
    ['as complete words when a letter beyond U+FFFF continues them', 'hello\u{20BB7}', ['hello'], []],
    [
      'in mathematical letters',
      '\u{1D421}\u{1D41E}\u{1D425}\u{1D425}\u{1D428} you',
      ['hello'],
      ['\u{1D421}\u{1D41E}\u{1D425}\u{1D425}\u{1D428}'],
    ],
    ['not across the end of a sentence', 'Thank. You', ['thank you'], []],
    ['across an ellipsis', 'thank... you', ['thank you'], ['thank... you']],
    ['unless an exception covers them', 'a problem, no problem', ['problem', '! no problem'], ['problem']],
  ])('%s', (_name, text, phrases, expected) => {
    expect(found(text, phrases)).toEqual(expected);
  });
});

describe('words', () => {
  const read = (text: string) => {
    const words = new Words();
    words.read(text, compilePhrasebook([]));
    return Array.from({ length: words.count }, (_, index) => text.slice(words.starts[index], words.ends[index]));
  };

  it('may be written in letters beyond U+FFFF, with the marks on them', () => {
    expect(read('\u{1E922}\u{1E92B}\u{1E944}, \u{20BB7}野家! 😀 a\u{1D400}')).toEqual([
      '\u{1E922}\u{1E92B}\u{1E944}',
      '\u{20BB7}野家',
      'a\u{1D400}',
    ]);
  });

  it('are not made of emoji, nor of halves of characters', () => {
    expect(read('😀😀 \ud83d \udc00 ok')).toEqual(['ok']);
  });
});

describe('a negation', () => {
  const negations = { before: ['not'], after: ['emas*'] };

  it.each([
    ['negates the words after it in its clause', 'I will not help', []],
    ['does not extend past a comma', 'not now, I will help', ['help']],
    ['does not extend over four words', 'not one two three four help', ['help']],
    ['negates the words before it in languages that put it last', 'help emasman', []],
  ])('%s', (_name, text, expected) => {
    expect(found(text, ['help'], negations)).toEqual(expected);
  });

  it('is not covered by a gap', () => {
    expect(found('i will not ever help', ['i will .. help'], negations)).toEqual([]);
  });
});

it.each([
  ['(call back|ring', 'Brackets'],
  ['refund)', 'Brackets'],
  ['[very so', 'Brackets'],
  ['(a [b])', 'Brackets'],
  ['card(s)', 'Brackets'],
  ['[a]b', 'Brackets'],
  ['(a]', 'Brackets'],
  ['! (no problem', 'Brackets'],
  ['', 'no word'],
  ['..', 'no word'],
  ['a ..', 'gap'],
  ['a .. .. b', 'follow each other'],
  ['a .. b .. c .. d', 'gaps'],
  ['a b c d e f g h i j k l m', 'words'],
  ['[a|b|c|d] [a|b|c|d] [a|b|c|d] x', 'variants'],
])('the phrase "%s" is refused with a reason', (phrase, reason) => {
  expect(phraseFault(phrase)).toContain(reason);
});

it.each(['! (no problem)', '!(no problem|fine)', '[very|so] (good|bad)?', '[a](b) c', '(call back|ring), please'])(
  'the phrase "%s" is accepted, because its brackets are in order',
  (phrase) => {
    expect(phraseFault(phrase)).toBeNull();
  },
);

it('any text is a phrase or is refused, and is never used as a regular expression', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (phrase) => {
      if (phraseFault(phrase) === null) compilePhrasebook([{ id: 0, phrases: [phrase] }]);
    }),
  );
  expect(
    found(
      'aaa',
      ['.*', 'a+'].filter((phrase) => phraseFault(phrase) === null),
    ),
  ).toEqual([]);
});

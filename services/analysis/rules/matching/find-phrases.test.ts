import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { findPhrases, Words } from './find-phrases.ts';
import { compilePhrasebook, type Negations, phraseFault } from './phrasebook.ts';

/** The verbatim pieces of a text in which phrases of one concept are found; longer readings come after shorter. */
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
    ['whatever the case', 'HELLO World', ['hello world'], ['HELLO World']],
    ['across spaces and punctuation, quoted as written', 'Hello,\n  «world»!', ['hello world'], ['Hello,\n  «world']],
    ['as whole words only', 'othello hellos', ['hello'], []],
    ['by the beginning of a word', 'Refunded, REFUNDING; fund', ['refund*'], ['Refunded', 'REFUNDING']],
    ['in Cyrillic by whole words', 'переделал дело делом', ['дело'], ['дело']],
    ['with ё or е', 'Приём', ['прием'], ['Приём']],
    [
      'in composed and decomposed form alike',
      'мо\u0438\u0306 cafe\u0301.',
      ['мой', 'café'],
      ['мо\u0438\u0306', 'cafe\u0301'],
    ],
    [
      'with any apostrophe or none',
      "yo‘q yoʻq yo'q yo’q yo`q yoq",
      ["yo'q"],
      ['yo‘q', 'yoʻq', "yo'q", 'yo’q', 'yo`q', 'yoq'],
    ],
    [
      'with Kyrgyz and Uzbek letters or their Russian stand-ins',
      'үчүн учун қарз карз',
      ['үчүн', 'қарз'],
      ['үчүн', 'учун', 'қарз', 'карз'],
    ],
    ['with dotted and dotless I', 'İptal IPTAL ıptal', ['iptal'], ['İptal', 'IPTAL', 'ıptal']],
    ['over a gap of up to three words', 'will a b c call. will a b c d call', ['will .. call'], ['will a b c call']],
    ['with one of several words or none', 'thank you very much', ['thank you [very|so] much'], ['thank you very much']],
    ['in groups of words', 'please ring me back', ['please (call|ring me) back'], ['please ring me back']],
    ['with a number', 'in 24 hours', ['in # hours'], ['in 24 hours']],
    ['beside emoji without cutting them', '😀hello😀', ['hello'], ['hello']],
    ['not across the end of a sentence', 'Thank. You', ['thank you'], []],
    ['across a pause', 'thank... you', ['thank you'], ['thank... you']],
    ['not where an exception covers them', 'a problem, no problem', ['problem', '! no problem'], ['problem']],
  ])('%s', (_name, text, phrases, expected) => {
    expect(found(text, phrases)).toEqual(expected);
  });
});

describe('a negation', () => {
  const negations = { before: ['not'], after: ['emas*'] };

  it.each([
    ['turns what follows in its clause', 'I will not help', []],
    ['does not reach past a comma', 'not now, I will help', ['help']],
    ['does not reach over four words', 'not one two three four help', ['help']],
    ['turns what stands before it, where the language has it so', 'help emasman', []],
  ])('%s', (_name, text, expected) => {
    expect(found(text, ['help'], negations)).toEqual(expected);
  });

  it('is not skipped by a gap', () => {
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
  ['a .. .. b', 'side by side'],
  ['a .. b .. c .. d', 'gaps'],
  ['a b c d e f g h i j k l m', 'words'],
  ['[a|b|c|d] [a|b|c|d] [a|b|c|d] x', 'variants'],
])('a phrase "%s" is refused with a sentence', (phrase, said) => {
  expect(phraseFault(phrase)).toContain(said);
});

it.each(['! (no problem)', '!(no problem|fine)', '[very|so] (good|bad)?', '[a](b) c', '(call back|ring), please'])(
  'the phrase "%s" is taken, its brackets being in order',
  (phrase) => {
    expect(phraseFault(phrase)).toBeNull();
  },
);

it('any text can be a phrase or is refused, and is no pattern', () => {
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

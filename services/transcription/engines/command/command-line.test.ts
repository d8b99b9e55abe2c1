import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { parseCommand } from './command-line.ts';

describe('SPEECH_COMMAND', () => {
  it.each([
    ['recognize', ['recognize']],
    ['  recognize   -infile\t{file} ', ['recognize', '-infile', '{file}']],
    [`recognize --model "my models/en" 'a "b" \\c'`, ['recognize', '--model', 'my models/en', 'a "b" \\c']],
    [`recognize a\\ b "say \\"hi\\"" pre'fix'"ed" ''`, ['recognize', 'a b', 'say "hi"', 'prefixed', '']],
    ['recognize "|" $HOME ~/x *.wav', ['recognize', '|', '$HOME', '~/x', '*.wav']],
    ['["recognize","a b","{file}",""]', ['recognize', 'a b', '{file}', '']],
    [' [ "recognize" ] ', ['recognize']],
  ])('%s is split into its words', (text, words) => {
    expect(parseCommand(text)).toEqual(words);
  });

  it.each([
    ['recognize "a b', 'quote that is not closed'],
    ["recognize it's", 'quote that is not closed'],
    ['recognize \\', 'ends in a backslash'],
    ['recognize {file} | tail -1', 'without a shell'],
    ['recognize {file} 2>/dev/null', 'without a shell'],
    ['recognize {file} && true', 'without a shell'],
    ['recognize < {file}', 'without a shell'],
    ['["recognize", 1]', 'JSON array of strings'],
    ['["recognize"', 'JSON array of strings'],
    ['[]', 'begin with a program'],
    ['""', 'begin with a program'],
    [' ', 'begin with a program'],
    ['["recognize","\\u0000"]', 'NUL'],
  ])('%s is refused with a reason', (text, why) => {
    expect(() => parseCommand(text)).toThrow(why);
  });

  it('returns quoted words unchanged, with any content', () => {
    const word = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0'));
    fc.assert(
      fc.property(
        fc.tuple(
          fc.string({ minLength: 1 }).filter((text) => !text.includes('\0')),
          fc.array(word),
        ),
        ([program, rest]) => {
          const words = [program, ...rest];
          const single = words.map((each) => `'${each.replaceAll("'", String.raw`'\''`)}'`).join(' ');
          const double = words.map((each) => `"${each.replaceAll(/["\\]/g, '\\$&')}"`).join(' ');
          expect(parseCommand(single)).toEqual(words);
          expect(parseCommand(double)).toEqual(words);
          expect(parseCommand(JSON.stringify(words))).toEqual(words);
        },
      ),
    );
  });
});

import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { parseCommand } from './command-line.ts';

describe('SPEECH_COMMAND', () => {
  it.each([
    ['hear', ['hear']],
    ['  hear   -infile\t{file} ', ['hear', '-infile', '{file}']],
    [`hear --model "my models/en" 'a "b" \\c'`, ['hear', '--model', 'my models/en', 'a "b" \\c']],
    [`hear a\\ b "say \\"hi\\"" pre'fix'"ed" ''`, ['hear', 'a b', 'say "hi"', 'prefixed', '']],
    ['hear "|" $HOME ~/x *.wav', ['hear', '|', '$HOME', '~/x', '*.wav']],
    ['["hear","a b","{file}",""]', ['hear', 'a b', '{file}', '']],
    [' [ "hear" ] ', ['hear']],
  ])('%s', (text, words) => {
    expect(parseCommand(text)).toEqual(words);
  });

  it.each([
    ['hear "a b', 'quote that is not closed'],
    ["hear it's", 'quote that is not closed'],
    ['hear \\', 'ends in a backslash'],
    ['hear {file} | tail -1', 'without a shell'],
    ['hear {file} 2>/dev/null', 'without a shell'],
    ['hear {file} && true', 'without a shell'],
    ['hear < {file}', 'without a shell'],
    ['["hear", 1]', 'JSON array of strings'],
    ['["hear"', 'JSON array of strings'],
    ['[]', 'begin with a program'],
    ['""', 'begin with a program'],
    [' ', 'begin with a program'],
    ['["hear","\\u0000"]', 'NUL'],
  ])('refuses %s and says why', (text, why) => {
    expect(() => parseCommand(text)).toThrow(why);
  });

  it('gives any words back that were quoted, however odd', () => {
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

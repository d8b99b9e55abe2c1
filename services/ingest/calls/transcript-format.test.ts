import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { checkTranscript } from '../intake/rows/call-fields.ts';
import { parseTranscript } from './transcript-format.ts';

const operatorTags = ['operator', 'оператор', 'operador'];
const clientTags = ['client', 'клиент', 'абонент', 'mijoz', 'cliente', 'кардар'];
const tags = [...operatorTags, ...clientTags];

describe('a transcript', () => {
  it.each(tags)('is taken apart at <%s> in any case', (name) => {
    const role = operatorTags.includes(name) ? 'operator' : 'client';
    for (const written of [name, name.toUpperCase(), `${name[0]?.toUpperCase()}${name.slice(1)}`]) {
      expect(parseTranscript(`<${written}>Hello`)).toEqual({
        utterances: [{ role, text: 'Hello', start: null, end: null }],
        tags: [name],
      });
    }
  });

  it('may have tags of several languages, and one role may speak twice in a row', () => {
    expect(parseTranscript(' \n<operator> One <КЛИЕНТ>Two\n<клиент>Three<Mijoz>Four')).toMatchObject({
      utterances: [
        { role: 'operator', text: 'One' },
        { role: 'client', text: 'Two' },
        { role: 'client', text: 'Three' },
        { role: 'client', text: 'Four' },
      ],
      tags: ['operator', 'клиент', 'mijoz'],
    });
  });

  it.each([
    '<operator >',
    '< operator>',
    '</operator>',
    '<оpеrator>',
    '<орerator>',
    '<клиeнт>',
    '<MİJOZ>',
    '<mıjoz>',
    '<mi\u0307joz>',
    '<cl\u0131ent>',
    '<ope\u0301rator>',
    '<oper\u200bator>',
    '＜operator＞',
    '<operators>',
    '<operato>',
    '<agent>',
    '<>',
    '&lt;operator&gt;',
    '<operator',
    '<<operator',
    'operator>',
  ])('reads %s as text and not as a tag', (lookalike) => {
    expect(parseTranscript(`<client>a ${lookalike} b`)).toMatchObject({
      utterances: [{ role: 'client', text: `a ${lookalike} b` }],
    });
    expect(checkTranscript(`${lookalike}Hello`)[0]).toMatchObject({ fault: 'MISSING_ROLE_TAG' });
  });

  it('may have angle brackets in its text', () => {
    expect(checkTranscript('<<operator>5 < 6 > 4 <<client>ok')[0]).toMatchObject({ fault: 'MISSING_ROLE_TAG' });
    expect(parseTranscript('<operator>5 < 6 > 4 <<client>ok>')).toMatchObject({
      utterances: [{ text: '5 < 6 > 4 <' }, { text: 'ok>' }],
    });
  });

  it('without a tag, or with text before the first tag, is refused with a message that shows what it has instead', () => {
    expect(checkTranscript('Hello, how are you?')[0]).toMatchObject({
      fault: 'MISSING_ROLE_TAG',
      message: expect.stringContaining('has no role tag'),
    });
    const [before] = checkTranscript('[agent] Hello <client>Hi');
    expect(before).toMatchObject({ fault: 'MISSING_ROLE_TAG' });
    expect(before).toMatchObject({ message: expect.stringContaining('at character 15') });
    expect(before).toMatchObject({ message: expect.stringContaining('"[agent]" is not a role tag') });
  });

  it.each([
    ['<operator>', 1],
    ['<operator>Hi<client>', 2],
    ['<operator>Hi<client> \n\u00a0\u3000<operator>Bye', 2],
    ['<operator><client>Hi', 1],
  ])('with an empty utterance is refused with a message that says which: %j', (text, number) => {
    expect(checkTranscript(text)[0]).toMatchObject({
      fault: 'EMPTY_UTTERANCE',
      message: expect.stringContaining(`Utterance ${number} `),
    });
  });

  it('with text before its first tag and an empty utterance has both as faults, in that order', () => {
    for (const [text, missing, empty] of [
      ['hello<operator><client>hi', 'at character 6', 'Utterance 1 of'],
      ['hello<operator>hi<client> ', 'at character 6', 'Utterance 2 of'],
    ] as const) {
      expect(checkTranscript(text)).toEqual([
        { fault: 'MISSING_ROLE_TAG', message: expect.stringContaining(missing) },
        { fault: 'EMPTY_UTTERANCE', message: expect.stringContaining(empty) },
      ]);
      expect(checkTranscript(text)[0]).toMatchObject({ fault: 'MISSING_ROLE_TAG' });
    }
    expect(checkTranscript('hello').map(({ fault }) => fault)).toEqual(['MISSING_ROLE_TAG']);
  });

  it.each([
    ['\u200b', '[U+200B]'],
    ['\u200e\u2060', '[U+200E][U+2060]'],
    ['a\u00adb', 'a[U+00AD]b'],
  ])(
    'with invisible characters before its first tag (%j) is refused with a message that shows them',
    (before, shown) => {
      const message = expect.stringContaining(
        `text before its first role tag (at character ${before.length + 1}): "${shown}".`,
      );
      expect(checkTranscript(`${before}<operator>hi`)[0]).toMatchObject({ fault: 'MISSING_ROLE_TAG', message });
    },
  );

  it.each(['<', '<o', '<operator', '<operato>', '<operator>a', '<operator><', '<клиент ', '&lt;', '(', '<client>\n'])(
    'is checked in linear time: 4 MiB of %j',
    (unit) => {
      const text = unit.repeat((4 * 1024 * 1024) / unit.length);
      // Comparing each character with all others would take longer than the test may.
      expect(checkTranscript(text).length > 0).toBe(parseTranscript(text) === null);
    },
  );
});

const said = fc
  .string({ unit: fc.constantFrom('a', 'я', ' ', '<', '>', '\n', 'ı', '😀', 'o'), minLength: 1, maxLength: 12 })
  .filter((text) => text.trim() !== '');
const anyCase = fc
  .tuple(fc.constantFrom(...tags), fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }))
  .map(([name, upper]) => {
    const letters = Array.from(name, (letter, at) => (upper[at] === true ? letter.toUpperCase() : letter));
    return { name, written: letters.join('') };
  });

describe('any transcript', () => {
  it('is parsed to the utterances that it was built from', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyCase, said), { minLength: 1, maxLength: 10 }), (parts) => {
        const text = parts.map(([{ written }, words]) => `<${written}>${words}`).join('');
        expect(parseTranscript(text)).toEqual({
          utterances: parts.map(([{ name }, words]) => ({
            role: operatorTags.includes(name) ? 'operator' : 'client',
            text: words.trim(),
            start: null,
            end: null,
          })),
          tags: [...new Set(parts.map(([{ name }]) => name))],
        });
      }),
    );
  });

  it('is valid or invalid alike for the check, for the parser and by a plain implementation of the rules', () => {
    const piece = fc.constantFrom('<operator>', '<КЛИЕНТ>', '<mıjoz>', '<', ' ', 'word', '\n', '>', '<operator');
    const pieces = fc.array(piece, { maxLength: 10 });
    fc.assert(
      fc.property(pieces, (parts) => {
        const text = parts.join('');
        const parsed = parseTranscript(text);
        const found = checkTranscript(text);
        const [before, ...utterances] = text.split(/<(?:operator|клиент)>/i);
        const faults: string[] = [];
        if (utterances.length === 0 || before?.trim() !== '') faults.push('MISSING_ROLE_TAG');
        if (utterances.some((each) => each.trim() === '')) faults.push('EMPTY_UTTERANCE');
        expect(found.map(({ fault }) => fault)).toEqual(faults);
        expect(parsed === null).toBe(faults.length > 0);
      }),
      { numRuns: 500 },
    );
  });
});

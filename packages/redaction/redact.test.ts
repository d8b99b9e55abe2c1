import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { measureRedaction } from './measure-redaction.ts';
import { redact, Redaction } from './redact.ts';

describe('personal data', () => {
  it.each([
    ['my number is +998 90 123-45-67, call me back', 'my number is [PHONE], call me back'],
    ['мой телефон 8 (912) 345-67-89 спасибо', 'мой телефон [PHONE] спасибо'],
    ['card 4111 1111 1111 1111 expires soon', 'card [CARD] expires soon'],
    ['карта 8600 1234 5678 9012', 'карта [CARD]'],
    ['IBAN ES91 2100 0418 4502 0005 1332 please', 'IBAN [IBAN] please'],
    ['пишите на anna.k@mail.ru', 'пишите на [EMAIL]'],
    ['it is anna dot k at gmail dot com', 'it is [EMAIL]'],
    ['паспорт AA1234567 выдан', 'паспорт [PASSPORT] выдан'],
    ['mi DNI es 12345678Z', 'mi DNI es [TAX_ID]'],
    ['ИНН 7707083893', 'ИНН [TAX_ID]'],
    ['my social security number is 123-45-6789', 'my social security number is [TAX_ID]'],
    ['nine nine eight nine oh one two three four five six seven', '[PHONE]'],
    ['номер девяносто восемь девятьсот один двадцать три сорок пять', 'номер [PHONE]'],
    ['raqamim to‘qson bir ikki yuz o‘ttiz to‘rt ellik olti yetmish sakkiz', 'raqamim [PHONE]'],
    ['номерим токсон эки беш жүз элүү алты жыйырма төрт отуз жети', 'номерим [PHONE]'],
    ['seis cero cero uno dos tres cuatro cinco seis', '[PHONE]'],
  ])('is replaced in “%s”', (text, redacted) => {
    expect(redact(text).text).toBe(redacted);
  });

  it.each([
    'I paid two hundred fifty thousand sums in twenty twenty six',
    'the sum is 1 250 000 сум',
    'on 2026-10-12 at 10:30',
    'order 12345',
    'заказ 4512345678 не пришёл',
    'один два три, проверка',
    'от десяти до двадцати тысяч',
  ])('is not seen in “%s”', (text) => {
    expect(redact(text).text).toBe(text);
  });
});

it('a span of the redacted text is found in the original, replacements whole', () => {
  const piece = fc.constantFrom(
    'call ',
    '+998 90 123-45-67',
    ' or write to ',
    'a@b.uz',
    '. ',
    'карта 8600 1234 5678 9012',
    ' да ',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), fc.nat(), fc.nat(), (pieces, one, other) => {
      const original = pieces.join('');
      const { text, findings } = redact(original);
      const redaction = redact(original);
      expect(redaction.original({ start: 0, end: text.length })).toEqual({ start: 0, end: original.length });
      if (text.length === 0) return;
      const start = one % text.length;
      const end = start + 1 + (other % (text.length - start));
      const span = redaction.original({ start, end });
      expect(span.start).toBeLessThan(span.end);
      for (const each of findings) {
        const isCut = (at: number) => each.start < at && at < each.end;
        expect([isCut(span.start), isCut(span.end)]).toEqual([false, false]);
      }
      const inside = findings
        .filter((each) => span.start <= each.start && each.end <= span.end)
        .map((each) => ({ ...each, start: each.start - span.start, end: each.end - span.start }));
      const again = new Redaction(original.slice(span.start, span.end), inside);
      expect(again.text).toContain(text.slice(start, end));
    }),
  );
});

it('precision and recall count complete replacements, and replacements that touch a labelled piece', () => {
  const sentences = [
    {
      id: '1',
      language: 'en',
      text: 'call +998 90 123-45-67 now',
      entities: [{ type: 'PHONE' as const, start: 5, end: 22 }],
    },
    { id: '2', language: 'en', text: 'I am Ann', entities: [{ type: 'NUMBER' as const, start: 5, end: 8 }] },
    { id: '3', language: 'ru', text: 'карта 8600 1234 5678 9012', entities: [] },
  ];
  expect(measureRedaction(sentences)).toEqual([
    { language: 'en', sentences: 2, labelled: 2, hidden: 1, found: 1, right: 1 },
    { language: 'ru', sentences: 1, labelled: 0, hidden: 0, found: 1, right: 0 },
    { language: 'all', sentences: 3, labelled: 2, hidden: 1, found: 2, right: 1 },
  ]);
});

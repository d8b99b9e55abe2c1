import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { parsePhone } from './field-rules.ts';

const someDigits = fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 18 });

describe('a phone number', () => {
  it('is 7 to 15 digits with an optional +, kept as written', () => {
    fc.assert(
      fc.property(fc.constantFrom('', '+'), someDigits, (plus, digits) => {
        const text = plus + digits;
        const good = digits.length >= 7 && digits.length <= 15;
        const parsed = parsePhone(text);
        if (good) expect(parsed).toBe(text);
        else expect(parsed).toMatchObject({ fault: 'INVALID_PHONE_NUMBER' });
      }),
    );
  });

  it('is nothing else', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'+01234567٣３ -()e.'), maxLength: 17 }), (text) => {
        expect(typeof parsePhone(text) === 'string').toBe(/^\+?[0-9]{7,15}$/.test(text));
      }),
    );
  });

  it.each([
    ['9.98901E+11', 'rounded'],
    ['998901234567.0', 'decimals'],
    ['1', '1 digit:'],
    ['123456', '6 digits'],
    ['+1234567890123456', '16 digits'],
    ['+998 (90) 123-45-67', 'spaces'],
    ['٩٩٨٩٠١٢٣٤٥٦٧', 'digits 0 to 9'],
    ['++998901234567', 'at most one +'],
    ['998901234567 ext. 5', 'extensions'],
  ])('that is %s is refused with advice', (text, advice) => {
    expect(parsePhone(text)).toMatchObject({ message: expect.stringContaining(advice) });
  });
});

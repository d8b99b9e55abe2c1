import type { ValueFault } from './row-fault.ts';

const PLUS = 43;
const ZERO = 48;
const NINE = 57;

/** Optional `+`, 7 to 15 ASCII digits, nothing else (external-interface.md, "Transcription record"). */
export function parsePhone(text: string): string | ValueFault {
  const from = text.charCodeAt(0) === PLUS ? 1 : 0;
  const digits = text.length - from;
  if (digits < 7 || digits > 15) return explain(text);
  for (let index = from; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < ZERO || code > NINE) return explain(text);
  }
  return text;
}

function explain(text: string): ValueFault {
  return {
    fault: 'INVALID_PHONE_NUMBER',
    message: `client_phone_number must be 7 to 15 digits, optionally with + in front. ${advice(text)}`,
  };
}

function advice(text: string): string {
  if (/^\d(?:[.,]\d+)?e\+?\d+$/i.test(text)) {
    return 'A spreadsheet has rounded this one: format the column as text and enter the number again.';
  }
  if (/^\+?\d+[.,]0+$/.test(text)) return 'Remove the decimals: format the column as text.';
  if (/^\+?\d+$/.test(text)) return `This one has ${text.replace('+', '').length} digits: complete or correct it.`;
  if (/^\+?[\d\s().\-–/]+$/.test(text)) return 'Remove spaces, hyphens, dots, slashes and brackets.';
  if (/^[+\p{Nd}]+$/u.test(text)) return 'Write it in the digits 0 to 9, with at most one + in front.';
  return 'Remove everything else, extensions and second numbers too.';
}

import { electronicFormatIBAN, isValidIBAN } from 'ibantools';
import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { cif, dni, nie, nif } from 'stdnum/lib/cjs/es/index.js';
import { inn } from 'stdnum/lib/cjs/ru/index.js';
import type { Validator } from 'stdnum/lib/cjs/types.js';
import { ssn } from 'stdnum/lib/cjs/us/index.js';

/** Two letters and two digits, then groups. */
const IBAN = /(?<![\p{L}\p{N}])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}(?![\p{L}\p{N}])/gu;
/** Digits with what people write between them. */
const DIGITS = /(?<![\p{L}\p{N}])[+(]?\d(?:[\s().\-–/]{0,3}\d){5,22}(?!\d)/gu;
/** Passports of Uzbekistan and Kyrgyzstan: two letters and seven digits. */
const LETTERED = /(?<![\p{L}\p{N}])[A-ZА-Я]{2} ?(?:№ ?)?\d{7}(?![\p{L}\p{N}])/gu;
const US_PASSPORT = /(?<![\p{L}\p{N}])[A-Z]\d{8}(?![\p{L}\p{N}])/gu;
const SPANISH =
  /(?<![\p{L}\p{N}])(?:[XYZ][ -]?\d{7}|\d{2}\.?\d{3}\.?\d{3})[ -]?[A-Z](?![\p{L}\p{N}])|(?<![\p{L}\p{N}])[ABCDEFGHJNPQRSUVW][ -]?\d{8}(?![\p{L}\p{N}])/giu;

const COUNTRIES: readonly CountryCode[] = ['UZ', 'KG', 'RU', 'ES', 'US'];

/** Words before a number that say what it is. */
const CONTEXT: readonly (readonly [Kind, RegExp])[] = [
  ['PASSPORT', /паспорт|passport|pasaporte|pasport|гувоҳнома|guvohnoma/iu],
  [
    'TAX_ID',
    /\b(?:tin|ssn|ein|itin|nif|nie|dni|cif|pinfl|stir|jshshir|inn)\b|tax|social security|инн|пинфл|жшшир|стир|снилс|пин\b|fiscal/iu,
  ],
  ['CARD', /карт|card|tarjeta|karta/iu],
  [
    'PHONE',
    /phone|mobile|cell|call (?:me|back)|reach|text me|telefon|raqam|тел|номер|рақам|звон|móvil|movil|teléfono|celular|llam|чал|qo.ng.iroq/iu,
  ],
];
/** A word further back than this belongs to something else. */
const CONTEXT_LENGTH = 40;

/** Words before numbers of any length that are not personal data. */
const HARMLESS =
  /(?:order|заказ\p{L}*|pedido|buyurtma|ticket|заявк\p{L}*|договор\p{L}*|contract|contrato|shartnoma|invoice|счет\p{L}*|счёт\p{L}*|factura|tracking|трек\p{L}*|посылк\p{L}*|буюртма|келишим\p{L}*|арыз\p{L}*)[^\p{N}]{0,25}$/iu;

/** Accounts, cards, phone, passport and tax numbers in digits. */
export function findNumbers(text: string): Finding[] {
  if (!/\d.{0,12}\d.{0,12}\d/su.test(text)) return [];
  const found: Finding[] = [];
  const add = (match: RegExpExecArray, kind: Kind) =>
    found.push({ start: match.index, end: match.index + match[0].length, kind });
  for (const match of text.matchAll(IBAN)) {
    if (isValidIBAN(electronicFormatIBAN(match[0]) ?? '')) add(match, 'IBAN');
  }
  for (const match of text.matchAll(SPANISH)) {
    const number = match[0].replace(/[^0-9A-Za-z]/g, '').toUpperCase();
    if (isAny([dni, nie, nif, cif], number)) add(match, 'TAX_ID');
  }
  for (const match of text.matchAll(LETTERED)) add(match, 'PASSPORT');
  for (const match of text.matchAll(US_PASSPORT))
    if (contextOf(text, match.index) === 'PASSPORT') add(match, 'PASSPORT');
  for (const match of text.matchAll(DIGITS)) {
    const kind = kindOf(match[0], text, match.index);
    if (kind !== null) add(match, kind);
  }
  return found;
}

function kindOf(written: string, text: string, at: number): Kind | null {
  const digits = written.replace(/\D/g, '');
  const context = contextOf(text, at);
  if (!written.startsWith('+') && context === null && HARMLESS.test(text.slice(Math.max(0, at - 50), at))) return null;
  return kindOfDigits(digits, context, written);
}

/** The kind of personal number that these digits are, or null. `written` is the number as it is spelled in the text. */
export function kindOfDigits(digits: string, context: Kind | null, written: string): Kind | null {
  const { length } = digits;
  if (length < 6 || length > 19) return null;
  if (/^\d{4}[-./]\d{2}[-./]\d{2}|^\d{2}[-./]\d{2}[-./]\d{4}/.test(written)) return null;
  if (length >= 13 && (context === 'CARD' || isCard(digits))) return 'CARD';
  if (context === 'PASSPORT' && length >= 7 && length <= 10) return 'PASSPORT';
  if (context === 'TAX_ID' && length >= 8) return 'TAX_ID';
  if (/^\d{3}[- ]\d{2}[- ]\d{4}$/.test(written) && ssn.validate(digits).isValid) return 'TAX_ID';
  if (/^\d{3}-\d{3}-\d{3}[- ]\d{2}$/.test(written)) return 'TAX_ID';
  if (isPhone(written, digits)) return 'PHONE';
  if (context === 'PHONE' && length >= 7 && length <= 15) return 'PHONE';
  // Personal numbers of Uzbekistan and Kyrgyzstan have 14 digits that begin with sex or century.
  if (length === 14 && /^[1-6]/.test(digits)) return 'TAX_ID';
  if ((length === 10 || length === 12) && inn.validate(digits).isValid) return 'TAX_ID';
  if (/^\d{2} ?\d{2} \d{6}$/.test(written)) return 'PASSPORT';
  return context === 'CARD' && length >= 12 ? 'CARD' : null;
}

/** The kind of number that the words before it indicate. The nearest word counts. */
export function contextOf(text: string, at: number): Kind | null {
  const before = text.slice(Math.max(0, at - CONTEXT_LENGTH), at);
  let kind: Kind | null = null;
  let nearest = -1;
  for (const [candidate, pattern] of CONTEXT) {
    const last = lastMatch(before, pattern);
    if (last > nearest) [kind, nearest] = [candidate, last];
  }
  return kind;
}

function lastMatch(text: string, pattern: RegExp): number {
  let last = -1;
  for (const match of text.matchAll(new RegExp(pattern, `${pattern.flags}g`))) last = match.index;
  return last;
}

function isPhone(written: string, digits: string): boolean {
  const grouped = /[\s().\-–]/.test(written);
  // A bare run of digits is a phone number only in the length that one has with its country or its area.
  if (written.startsWith('+')) return digits.length >= 8 && digits.length <= 15;
  if (digits.length < 9) return false;
  // Russians and Kazakhs dial 8 for 7.
  if (/^8\d{10}$/.test(digits)) return parsePhoneNumberFromString(digits, 'RU')?.isValid() ?? false;
  const international = parsePhoneNumberFromString(`+${digits}`);
  if (digits.length >= 11 && international?.isValid() === true) return true;
  return COUNTRIES.some((country) => {
    const number = parsePhoneNumberFromString(digits, country);
    if (number?.isValid() !== true) return false;
    // Nine or ten digits in one piece may be anything; separated as a phone number they are one.
    return grouped || country === 'UZ' || (country === 'ES' && /^[67]/.test(digits)) || digits.startsWith('0');
  });
}

/** By the check digit that cards have, or the first digits of the cards of Uzbekistan. */
function isCard(digits: string): boolean {
  if (digits.length === 16 && /^(?:8600|5614|9860|6262|5440)/.test(digits)) return true;
  if (!/^[2-6]/.test(digits)) return false;
  let sum = 0;
  for (let at = 0; at < digits.length; at += 1) {
    let digit = Number(digits[digits.length - 1 - at]);
    if (at % 2 === 1) digit = digit > 4 ? digit * 2 - 9 : digit * 2;
    sum += digit;
  }
  return sum % 10 === 0;
}

function isAny(kinds: readonly Validator[], number: string): boolean {
  return kinds.some((kind) => kind.validate(number).isValid);
}

/** Kinds of personal data, by the word that replaces them: `[PHONE]`. */
export const KINDS = ['EMAIL', 'IBAN', 'CARD', 'PHONE', 'PASSPORT', 'TAX_ID', 'NUMBER'] as const;
export type Kind = (typeof KINDS)[number];

/** Personal data in a text. The offsets are UTF-16 units, the end is exclusive. */
export interface Finding {
  readonly start: number;
  readonly end: number;
  readonly kind: Kind;
}

import { type Finding, findNumbers } from './find-numbers.ts';
import { findSpokenNumbers } from './find-spoken-numbers.ts';

const EMAIL = /[\p{L}\p{N}][\p{L}\p{N}._%+-]{0,63}@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,24}/gu;

/** How the signs of an address are spoken: at, and the dot before its last part. */
const AT = '(?:at|собака|собачка|arroba|et|kuchukcha|кучукча|маймылча|ит белгиси)';
const DOT = '(?:dot|точка|punto|nuqta|нуқта|чекит)';
const LAST = '(?:com|net|org|ru|uz|kg|es|us|info|ком|нет|орг|ру|уз|кейджи|кейжи|кг|юзет)';
const SPOKEN_EMAIL = new RegExp(
  `(?<![\\p{L}\\p{N}])[\\p{L}\\p{N}._-]+(?: ${DOT} [\\p{L}\\p{N}_-]+){0,3} ${AT} [\\p{L}\\p{N}-]+(?: ${DOT} [\\p{L}\\p{N}-]+){0,2}? ${DOT} ${LAST}(?![\\p{L}\\p{N}])`,
  'giu',
);

/** E-mail addresses, written or spoken. */
function findAddresses(text: string): Finding[] {
  const found: Finding[] = [];
  if (text.includes('@')) add(EMAIL);
  if (MAY_BE_SPOKEN.test(text)) add(SPOKEN_EMAIL);
  return found;

  function add(pattern: RegExp): void {
    for (const match of text.matchAll(pattern)) {
      found.push({ start: match.index, end: match.index + match[0].length, kind: 'EMAIL' });
    }
  }
}

const MAY_BE_SPOKEN = new RegExp(` ${DOT} `, 'iu');

type Span = Pick<Finding, 'start' | 'end'>;

/** A text without its personal data, and the way back. */
export class Redaction {
  readonly text: string;
  readonly findings: readonly Finding[];

  constructor(original: string, findings: readonly Finding[]) {
    this.findings = findings;
    let text = '';
    let from = 0;
    for (const { start, end, kind } of findings) {
      text += `${original.slice(from, start)}[${kind}]`;
      from = end;
    }
    this.text = text + original.slice(from);
  }

  /** A span of the redacted text in the original. A replacement that the span touches is taken whole. */
  original({ start, end }: Span): Span {
    return { start: this.#offset(start, false), end: this.#offset(end, true) };
  }

  #offset(at: number, isEnd: boolean): number {
    /** How much longer the original is than the redacted text, up to here. */
    let longer = 0;
    for (const { start, end, kind } of this.findings) {
      const begins = start - longer;
      const ends = begins + kind.length + 2;
      if (isEnd ? at <= begins : at < begins) break;
      if (isEnd ? at <= ends : at < ends) return isEnd ? end : start;
      longer += end - start - (kind.length + 2);
    }
    return at + longer;
  }
}

/**
 * Replaces phone numbers, cards, accounts (IBAN), e-mail addresses, and passport and tax numbers of UZ, KG, RU, US and ES, in
 * digits or spoken as words in English, Russian, Uzbek, Kyrgyz or Spanish. Sums, dates and short numbers stay.
 */
export function redact(text: string): Redaction {
  return new Redaction(text, findPersonalData(text));
}

/** In the order of the text, without overlaps: of two that overlap, the one that begins first, then the longer one. */
export function findPersonalData(text: string): Finding[] {
  const found = [...findAddresses(text), ...findNumbers(text), ...findSpokenNumbers(text)];
  found.sort((one, other) => one.start - other.start || other.end - one.end);
  const kept: Finding[] = [];
  for (const finding of found) {
    if (finding.start >= (kept.at(-1)?.end ?? 0)) kept.push(finding);
  }
  return kept;
}

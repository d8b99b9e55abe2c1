import type { Finding } from './finding.ts';

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
export function findAddresses(text: string): Finding[] {
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

/**
 * Uzbek in Latin letters, written in Cyrillic by the rules of the orthographies of 1956 and 1995. Placeholders and ICU
 * keywords in braces, names in capitals (CSV, API) and names of products stay as they are.
 */
export function toCyrillic(message: string): string {
  return splitIcu(message)
    .map(({ text, isSyntax }) => (isSyntax ? text : text.replaceAll(WORD, (word) => cyrillicWord(word))))
    .join('');
}

/** Letters with the apostrophes that belong to them: oʻ, gʻ, and ʼ within a word. */
const WORD = /[A-Za-z][A-Za-zʻʼ'’‘]*/g;
const LATIN_NAMES = new Set(['Enter', 'Standard', 'Webhooks', 'https', 'example', 'com']);

/** Words whose Latin spelling does not determine the Cyrillic one. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  token: 'токен',
  obyekt: 'объект',
};

const LETTERS: Readonly<Record<string, string>> = {
  a: 'а', b: 'б', d: 'д', f: 'ф', g: 'г', h: 'ҳ', i: 'и', j: 'ж', k: 'к', l: 'л', m: 'м', n: 'н', o: 'о',
  p: 'п', q: 'қ', r: 'р', s: 'с', t: 'т', u: 'у', v: 'в', x: 'х', y: 'й', z: 'з', c: 'ц', w: 'в',
}; // prettier-ignore
const PAIRS: Readonly<Record<string, string>> = {
  sh: 'ш', ch: 'ч', yo: 'ё', yu: 'ю', ya: 'я', ye: 'е', "o'": 'ў', "g'": 'ғ',
}; // prettier-ignore
const VOWEL = /[aeiouаеиоуўэёюя]/i;

function cyrillicWord(word: string): string {
  const isAbbreviation = word.length > 1 && word === word.toUpperCase();
  if (isAbbreviation || LATIN_NAMES.has(word)) return word;
  const plain = word.replaceAll(/[ʻʼ’‘]/g, "'");
  const exception = EXCEPTIONS[plain.toLowerCase()];
  if (exception !== undefined) return likeCase(plain, exception);
  let written = '';
  for (let at = 0; at < plain.length;) {
    const rest = plain.slice(at);
    const two = rest.slice(0, 2);
    // "yo'l" is йўл: the o belongs to the apostrophe.
    const isYoWithApostrophe = /^yo'/i.test(rest);
    const pair = isYoWithApostrophe ? undefined : PAIRS[two.toLowerCase()];
    if (pair !== undefined) {
      written += likeCase(two, pair);
      at += 2;
      continue;
    }
    const letter = plain[at]!;
    if (letter === "'") written += 'ъ';
    else if (letter.toLowerCase() === 'e') {
      const isOpen = at === 0 || VOWEL.test(plain[at - 1]!);
      written += likeCase(letter, isOpen ? 'э' : 'е');
    } else written += likeCase(letter, LETTERS[letter.toLowerCase()] ?? letter);
    at += 1;
  }
  return written;
}

function likeCase(like: string, text: string): string {
  return like[0] === like[0]!.toUpperCase() && like[0] !== "'" ? text[0]!.toUpperCase() + text.slice(1) : text;
}

/** Separates what a reader sees from ICU syntax: `{name}`, `{n, plural, one {`, `<0>`. */
function splitIcu(message: string): { text: string; isSyntax: boolean }[] {
  return message
    .split(/(\{\s*\w+\s*\}|\{\s*\w+\s*,\s*(?:plural|select)\s*,\s*=?\w+\s*\{|\}\s*=?\w+\s*\{|\}|<\/?\d+\/?>)/)
    .map((text, index) => ({ text, isSyntax: index % 2 === 1 }));
}

const PAIRS: Readonly<Record<string, string>> = {
  sh: 'ш',
  ch: 'ч',
  ya: 'я',
  yo: 'ё',
  yu: 'ю',
  ye: 'е',
};
const APOSTROPHE = "'";
const SINGLE: Readonly<Record<string, string>> = {
  a: 'а',
  b: 'б',
  d: 'д',
  e: 'е',
  f: 'ф',
  g: 'г',
  h: 'ҳ',
  i: 'и',
  j: 'ж',
  k: 'к',
  l: 'л',
  m: 'м',
  n: 'н',
  o: 'о',
  p: 'п',
  q: 'қ',
  r: 'р',
  s: 'с',
  t: 'т',
  u: 'у',
  v: 'в',
  x: 'х',
  y: 'й',
  z: 'з',
};

/**
 * The same Uzbek in Cyrillic script: the letters of the standard transliteration, everything else as it stands.
 * Expects lower case and a plain apostrophe.
 */
export function inCyrillic(latin: string): string {
  let cyrillic = '';
  for (let at = 0; at < latin.length; at += 1) {
    const letter = latin[at] ?? '';
    const next = latin[at + 1] ?? '';
    const pair = PAIRS[letter + next];
    if ((letter === 'o' || letter === 'g') && next === APOSTROPHE) {
      cyrillic += letter === 'o' ? 'ў' : 'ғ';
      at += 1;
    } else if (letter === 'y' && next === 'o' && latin[at + 2] === APOSTROPHE) {
      cyrillic += 'йў';
      at += 2;
    } else if (pair !== undefined) {
      cyrillic += pair;
      at += 1;
    } else if (letter === 'e' && !/[a-z']/u.test(latin[at - 1] ?? ' ')) {
      cyrillic += 'э';
    } else if (letter === APOSTROPHE) {
      cyrillic += 'ъ';
    } else {
      cyrillic += SINGLE[letter] ?? letter;
    }
  }
  return cyrillic;
}

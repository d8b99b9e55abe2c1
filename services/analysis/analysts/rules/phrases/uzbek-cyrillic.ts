const PAIRS: Readonly<Record<string, string>> = {
  sh: 'ш',
  ch: 'ч',
  ya: 'я',
  yo: 'ё',
  yu: 'ю',
  ye: 'е',
};
const APOSTROPHE = "'";
const LATIN = 'abdefghijklmnopqrstuvxyz';
const CYRILLIC = 'абдефгҳижклмнопқрстувхйз';
const SINGLE = new Map(Array.from(LATIN, (letter, index) => [letter, CYRILLIC[index]]));

/**
 * Transliterates Uzbek from Latin to Cyrillic script and keeps every other character. Expects lower case and plain
 * apostrophes.
 */
export function toCyrillic(latin: string): string {
  let cyrillic = '';
  for (let index = 0; index < latin.length; index += 1) {
    const letter = latin[index] ?? '';
    const next = latin[index + 1] ?? '';
    const pair = PAIRS[letter + next];
    if ((letter === 'o' || letter === 'g') && next === APOSTROPHE) {
      cyrillic += letter === 'o' ? 'ў' : 'ғ';
      index += 1;
    } else if (letter === 'y' && next === 'o' && latin[index + 2] === APOSTROPHE) {
      cyrillic += 'йў';
      index += 2;
    } else if (pair !== undefined) {
      cyrillic += pair;
      index += 1;
    } else if (letter === 'e' && !/[a-z']/u.test(latin[index - 1] ?? ' ')) {
      cyrillic += 'э';
    } else if (letter === APOSTROPHE) {
      cyrillic += 'ъ';
    } else {
      cyrillic += SINGLE.get(letter) ?? letter;
    }
  }
  return cyrillic;
}

import { distances } from '../../recognition/word-errors.ts';

/** Differences between what was said and what was recognized. */
interface TextErrors {
  readonly wordErrors: number;
  readonly words: number;
  readonly letterErrors: number;
  readonly letters: number;
}

/** Compares texts that are folded: case, punctuation, accents and the writing of numbers do not count. */
export function textErrors(said: string, recognized: string, language: string): TextErrors {
  const expected = foldedWords(said, language);
  const actual = foldedWords(recognized, language);
  const letters = expected.join(' ');
  return {
    wordErrors: distance(expected, actual),
    words: expected.length,
    letterErrors: distance([...letters], [...actual.join(' ')]),
    letters: letters.length,
  };
}

export function foldedWords(text: string, language: string): string[] {
  const plain = text
    .normalize('NFKD')
    // й and ї are letters of their own.
    .replaceAll(/(?<![ииІіI])\p{M}/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('ё', 'е')
    .replaceAll(/['’ʻʼ`]/gu, '');
  const words = plain.match(/\p{L}+|\p{N}+/gu) ?? [];
  return words.flatMap((word) => (/^\d{1,4}$/.test(word) ? spelled(Number(word), language) : [word]));
}

/** The names of 0 to 20, and of 30 to 90. Larger numbers are read digit by digit, as telephone systems read them. */
const NAMES: Readonly<Record<string, string>> = {
  en: `zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety`,
  ru: `ноль один два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать тринадцать четырнадцать
    пятнадцать шестнадцать семнадцать восемнадцать девятнадцать двадцать тридцать сорок пятьдесят шестьдесят семьдесят
    восемьдесят девяносто`,
  es: `cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciseis diecisiete
    dieciocho diecinueve veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa`,
};

function spelled(number: number, language: string): string[] {
  const names = NAMES[language]?.split(/\s+/u);
  if (names === undefined) return [`${number}`];
  if (number <= 20) return [names[number]!];
  if (number < 100) {
    const tens = names[18 + Math.floor(number / 10)]!;
    return number % 10 === 0 ? [tens] : [tens, names[number % 10]!];
  }
  return [...`${number}`].map((digit) => names[Number(digit)]!);
}

/** For each recognized word, whether it is wrong: put in the place of another, or said by nobody. Words are folded. */
export function wrongWords(expected: readonly string[], actual: readonly string[]): boolean[] {
  const rows = distances(expected, actual);
  const wrong = actual.map(() => true);
  let [row, column] = [expected.length, actual.length];
  while (row > 0 && column > 0) {
    const here = rows[row]![column]!;
    const isSame = expected[row - 1] === actual[column - 1];
    if (here === rows[row - 1]![column - 1]! + (isSame ? 0 : 1)) {
      wrong[column - 1] = !isSame;
      row -= 1;
      column -= 1;
    } else if (here === rows[row]![column - 1]! + 1) {
      column -= 1;
    } else {
      row -= 1;
    }
  }
  return wrong;
}

function distance(expected: readonly string[], actual: readonly string[]): number {
  return distances(expected, actual).at(-1)!.at(-1)!;
}

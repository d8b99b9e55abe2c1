import { contextOf, type Finding, type Kind, kindOfDigits } from './find-numbers.ts';

const WORD = /[\p{L}\p{M}\p{N}]+(?:['’‘ʻʼ`][\p{L}\p{M}]+)*/gu;
/** Fewer dictated digits are a price, a time, a flat. */
const LEAST_DIGITS = 7;
/** Fewer number words may be other words: "on" is ten in Uzbek. */
const LEAST_WORDS = 3;

interface Run {
  start: number;
  end: number;
  digits: string;
  /** How many of its words are number words. */
  spoken: number;
  /** The value that still waits for smaller words: 90 for "ninety". */
  open: number;
  openSize: number;
  repeats: number;
}

/** Numbers that are dictated in words, or partly in words, of at least seven digits. */
export function findSpokenNumbers(text: string): Finding[] {
  const found: Finding[] = [];
  let run: Run | null = null;
  const end = (isSum: boolean) => {
    const kind = run === null || isSum ? null : kindOfRun(run, text);
    if (run !== null && kind !== null) found.push({ start: run.start, end: run.end, kind });
    run = null;
  };
  for (const match of text.matchAll(WORD)) {
    const word = foldWord(match[0]);
    const number = NUMBER_WORDS.get(word);
    const digits = /^\d{1,4}$/.test(word) ? word : null;
    const repeats = REPEATS.get(word);
    if (number === undefined && digits === null && repeats === undefined) {
      if (run !== null && !FILLERS.has(word)) end(SCALES.has(word));
      continue;
    }
    if (run !== null && isSentenceEnd(text.slice((run as Run).end, match.index))) end(false);
    const current: Run = (run ??= {
      start: match.index,
      end: 0,
      digits: '',
      spoken: 0,
      open: 0,
      openSize: 0,
      repeats: 1,
    });
    current.end = match.index + match[0].length;
    if (repeats !== undefined) {
      close(current);
      current.repeats = repeats;
    } else if (digits !== null) {
      close(current);
      current.digits += digits;
    } else {
      current.spoken += 1;
      add(current, number!.value, number!.size);
    }
  }
  end(false);
  return found;
}

/** "nine hundred", "ninety" and "eight" are one number of three digits; "nine", "eight" are two of one. */
function add(run: Run, value: number, size: number): void {
  // No digit follows "ten" to "nineteen".
  const isTeen = run.openSize === 2 && run.open % 100 > 0 && run.open % 100 < 20;
  if (run.openSize > size && !isTeen && value > 0) run.open += value;
  else {
    close(run);
    run.open = value;
  }
  run.openSize = size;
  if (size === 1) close(run);
}

function close(run: Run): void {
  if (run.openSize === 0) return;
  run.digits += String(run.open).repeat(run.repeats);
  run.open = 0;
  run.openSize = 0;
  run.repeats = 1;
}

function kindOfRun(run: Run, text: string): Kind | null {
  close(run);
  if (run.spoken < LEAST_WORDS || run.digits.length < LEAST_DIGITS) return null;
  const kind = kindOfDigits(run.digits, contextOf(text, run.start), run.digits);
  if (kind !== null) return kind;
  return run.digits.length <= 15 ? 'PHONE' : 'NUMBER';
}

function isSentenceEnd(between: string): boolean {
  return /[.!?;:]/.test(between.trimEnd().slice(0, 1)) && !/^\s*[.…]\s*\p{Ll}/u.test(between);
}

function foldWord(word: string): string {
  const bare = word
    .toLowerCase()
    .replace(/['’‘ʻʼ`]/g, '')
    .replaceAll('ё', 'е');
  return /[áéíóú]/.test(bare) ? bare.normalize('NFD').replace(/\p{M}/gu, '') : bare;
}

/** The number words of five languages, as digits are dictated. Lower case; ё is written е, apostrophes are left out. */
interface NumberWord {
  readonly value: number;
  /** Words of this size may be followed by smaller ones: "ninety" by "eight". */
  readonly size: 1 | 2 | 3;
}

const LISTS: readonly (readonly [size: 1 | 2 | 3, words: string])[] = [
  // English
  [1, 'zero=0 oh=0 o=0 nought=0 one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9'],
  [2, 'ten=10 eleven=11 twelve=12 thirteen=13 fourteen=14 fifteen=15 sixteen=16 seventeen=17 eighteen=18 nineteen=19'],
  [2, 'twenty=20 thirty=30 forty=40 fifty=50 sixty=60 seventy=70 eighty=80 ninety=90'],
  // Russian
  [
    1,
    'ноль=0 нуль=0 один=1 одна=1 единица=1 два=2 две=2 двойка=2 три=3 тройка=3 четыре=4 пять=5 шесть=6 семь=7 восемь=8 девять=9',
  ],
  [
    2,
    'десять=10 одиннадцать=11 двенадцать=12 тринадцать=13 четырнадцать=14 пятнадцать=15 шестнадцать=16 семнадцать=17 восемнадцать=18 девятнадцать=19',
  ],
  [2, 'двадцать=20 тридцать=30 сорок=40 пятьдесят=50 шестьдесят=60 семьдесят=70 восемьдесят=80 девяносто=90'],
  [3, 'сто=100 двести=200 триста=300 четыреста=400 пятьсот=500 шестьсот=600 семьсот=700 восемьсот=800 девятьсот=900'],
  // Uzbek, Latin and Cyrillic
  [1, 'nol=0 bir=1 ikki=2 uch=3 tort=4 besh=5 olti=6 yetti=7 sakkiz=8 toqqiz=9'],
  [1, 'нол=0 бир=1 икки=2 уч=3 торт=4 тўрт=4 беш=5 олти=6 етти=7 саккиз=8 тоққиз=9 тўққиз=9'],
  [2, 'on=10 yigirma=20 ottiz=30 qirq=40 ellik=50 oltmish=60 yetmish=70 sakson=80 toqson=90'],
  [2, 'ўн=10 йигирма=20 ўттиз=30 қирқ=40 эллик=50 олтмиш=60 етмиш=70 саксон=80 тўқсон=90'],
  [3, 'yuz=100 юз=100'],
  // Kyrgyz
  [1, 'нөл=0 эки=2 үч=3 төрт=4 алты=6 жети=7 сегиз=8 тогуз=9'],
  [2, 'он=10 жыйырма=20 отуз=30 кырк=40 элүү=50 алтымыш=60 жетимиш=70 сексен=80 токсон=90'],
  [3, 'жүз=100'],
  // Spanish
  [1, 'cero=0 uno=1 una=1 dos=2 tres=3 cuatro=4 cinco=5 seis=6 siete=7 ocho=8 nueve=9'],
  [2, 'diez=10 once=11 doce=12 trece=13 catorce=14 quince=15 dieciseis=16 diecisiete=17 dieciocho=18 diecinueve=19'],
  [
    2,
    'veinte=20 veintiuno=21 veintidos=22 veintitres=23 veinticuatro=24 veinticinco=25 veintiseis=26 veintisiete=27 veintiocho=28 veintinueve=29',
  ],
  [2, 'treinta=30 cuarenta=40 cincuenta=50 sesenta=60 setenta=70 ochenta=80 noventa=90'],
  [
    3,
    'cien=100 ciento=100 doscientos=200 trescientos=300 cuatrocientos=400 quinientos=500 seiscientos=600 setecientos=700 ochocientos=800 novecientos=900',
  ],
];

const NUMBER_WORDS: ReadonlyMap<string, NumberWord> = new Map(
  LISTS.flatMap(([size, words]) =>
    words.split(' ').map((entry) => {
      const [word = '', value] = entry.split('=');
      return [word, { value: Number(value), size }] as const;
    }),
  ),
);

/** The next digit is repeated this often. */
const REPEATS: ReadonlyMap<string, number> = new Map([
  ['double', 2],
  ['triple', 3],
  ['doble', 2],
  ['дважды', 2],
  ['трижды', 3],
]);

/** Words inside a dictated number that are no digits. */
const FILLERS = wordsIn(`
  and plus dash space then плюс тире и дальше потом y mas guion luego plyus keyin va кийин кейин анан жана ва
`);

/** Words of amounts, times and counts: a number followed by one of them is not dictated. */
const SCALES = wordsIn(`
  hundred thousand million billion dollars dollar percent minutes hours days euros тысяча тысячи тысяч миллион
  миллиона миллионов рублей рубля рубль процентов сум сумов сом сомов ming som soum foiz минг сўм фоиз миң пайыз
  mil millon millones pesos euro por
`);

function wordsIn(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/u));
}

import { contextOf, type Finding, type Kind, kindOfDigits } from './find-numbers.ts';
import { FILLERS, NUMBER_WORDS, REPEATS, SCALES } from './number-words.ts';

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
  const lower = word.toLowerCase();
  // Most words have nothing to fold.
  if (!/['’‘ʻʼ`ёáéíóú]/.test(lower)) return lower;
  const bare = lower.replace(/['’‘ʻʼ`]/g, '').replaceAll('ё', 'е');
  return /[áéíóú]/.test(bare) ? bare.normalize('NFD').replace(/\p{M}/gu, '') : bare;
}

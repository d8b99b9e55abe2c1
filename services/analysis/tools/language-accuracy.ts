import { readFileSync } from 'node:fs';
import type { Language } from '@call-analysis/events';
import { franc } from 'franc';
import { recognizeLanguage } from '../rules/recognize-language.ts';

/** One call of known language: its transcript with role tags, as it was uploaded. */
export interface LanguageSample {
  readonly text: string;
  readonly language: Language;
}

/** `correct` of `total` calls by recogniser, for one language at one length of text; `characters` null is all of it. */
export interface LanguageAccuracy {
  readonly language: Language;
  readonly characters: number | null;
  readonly total: number;
  readonly ours: number;
  readonly oursWithoutTags: number;
  readonly franc: number;
}

const LENGTHS: readonly (number | null)[] = [20, 50, 100, null];
const LANGUAGES: readonly Language[] = ['en', 'ru', 'uz', 'ky', 'es'];
const FRANC_CODES: Readonly<Record<string, Language>> = { eng: 'en', rus: 'ru', uzn: 'uz', kir: 'ky', spa: 'es' };
const TAG = /<(operator|оператор|operador|client|клиент|абонент|mijoz|cliente|кардар)>/giu;

/** Compares our recogniser with franc, which is restricted to the five languages. */
export function measureLanguageAccuracy(samples: readonly LanguageSample[]): LanguageAccuracy[] {
  return LENGTHS.flatMap((characters) =>
    LANGUAGES.map((language) => {
      const calls = samples.filter((sample) => sample.language === language);
      let ours = 0;
      let oursWithoutTags = 0;
      let francs = 0;
      for (const { text } of calls) {
        const tags = [...new Set([...text.matchAll(TAG)].map((match) => (match[1] ?? '').toLowerCase()))];
        const spoken = text
          .replace(TAG, ' ')
          .trim()
          .slice(0, characters ?? undefined);
        if (recognizeLanguage([{ text: spoken }], tags) === language) ours += 1;
        if (recognizeLanguage([{ text: spoken }], []) === language) oursWithoutTags += 1;
        if (FRANC_CODES[franc(spoken, { only: Object.keys(FRANC_CODES), minLength: 1 })] === language) francs += 1;
      }
      return { language, characters, total: calls.length, ours, oursWithoutTags, franc: francs };
    }),
  );
}

/** Fields of an RFC 4180 text, by the names of its header. */
export function readCsv(text: string): Record<string, string>[] {
  const rows = [...records(text.replace(/^\ufeff/u, ''))];
  const header = rows.shift() ?? [];
  return rows
    .filter((row) => row.some((field) => field !== ''))
    .map((row) => Object.fromEntries(header.map((name, column) => [name, row[column] ?? ''])));
}

function* records(text: string): Generator<string[]> {
  let row: string[] = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/gu)) {
    row.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    yield row;
    row = [];
  }
}

function main(): void {
  const samples = new URL('../../../samples/', import.meta.url);
  const expected: Record<string, { language: Language }> = JSON.parse(
    readFileSync(new URL('expected.json', samples), 'utf8'),
  );
  const calls = readCsv(readFileSync(new URL('transcripts.csv', samples), 'utf8')).flatMap((row) => {
    const known = expected[row['partner_call_id'] ?? ''];
    return known === undefined ? [] : [{ text: row['anonymized_text'] ?? '', language: known.language }];
  });
  console.log('language  characters  calls  ours  ours without tags  franc');
  for (const { language, characters, total, ours, oursWithoutTags, franc: francs } of measureLanguageAccuracy(calls)) {
    const columns = [
      language.padEnd(8),
      String(characters ?? 'all').padStart(10),
      String(total).padStart(5),
      percent(ours, total).padStart(5),
      percent(oursWithoutTags, total).padStart(17),
      percent(francs, total).padStart(6),
    ];
    console.log(columns.join('  '));
  }
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '-' : `${Math.round((part / whole) * 100)}%`;
}

if (import.meta.main) main();

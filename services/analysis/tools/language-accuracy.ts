// npm run languages: compares the language recognition of this service with franc on the sample calls.
import type { Language } from '@call-analysis/events';
import { franc } from 'franc';
import { recognizeLanguage } from '../analysts/rules/recognize-language.ts';
import { readSampleCalls, type SampleCall } from './sample-calls.ts';

/** The number of calls whose language each recognizer finds, of `total` calls in one language. */
export interface LanguageAccuracy {
  readonly language: Language;
  /** The length of text that the recognizers get; null for the complete text. */
  readonly characters: number | null;
  readonly total: number;
  readonly service: number;
  readonly serviceWithoutTags: number;
  readonly franc: number;
}

const LENGTHS: readonly (number | null)[] = [20, 50, 100, null];
const LANGUAGES: readonly Language[] = ['en', 'ru', 'uz', 'ky', 'es'];
const FRANC_CODES: Readonly<Record<string, Language>> = { eng: 'en', rus: 'ru', uzn: 'uz', kir: 'ky', spa: 'es' };
const TAG = /<(operator|оператор|operador|client|клиент|абонент|mijoz|cliente|кардар)>/giu;

/** Measures the language recognition of this service, and that of franc restricted to the five languages. */
export function measureLanguageAccuracy(samples: readonly Pick<SampleCall, 'text' | 'language'>[]): LanguageAccuracy[] {
  return LENGTHS.flatMap((characters) =>
    LANGUAGES.map((language) => {
      const calls = samples.filter((sample) => sample.language === language);
      let service = 0;
      let serviceWithoutTags = 0;
      let francs = 0;
      for (const { text } of calls) {
        const tags = [...new Set([...text.matchAll(TAG)].map((match) => (match[1] ?? '').toLowerCase()))];
        const spoken = text
          .replace(TAG, ' ')
          .trim()
          .slice(0, characters ?? undefined);
        if (recognizeLanguage([{ text: spoken }], tags) === language) service += 1;
        if (recognizeLanguage([{ text: spoken }], []) === language) serviceWithoutTags += 1;
        if (FRANC_CODES[franc(spoken, { only: Object.keys(FRANC_CODES), minLength: 1 })] === language) francs += 1;
      }
      return { language, characters, total: calls.length, service, serviceWithoutTags, franc: francs };
    }),
  );
}

async function main(): Promise<void> {
  console.log('language  characters  calls  service  without tags  franc');
  for (const accuracy of measureLanguageAccuracy(await readSampleCalls())) {
    const { language, characters, total, service, serviceWithoutTags, franc: francs } = accuracy;
    const columns = [
      language.padEnd(8),
      String(characters ?? 'all').padStart(10),
      String(total).padStart(5),
      percent(service, total).padStart(7),
      percent(serviceWithoutTags, total).padStart(12),
      percent(francs, total).padStart(5),
    ];
    console.log(columns.join('  '));
  }
}

function percent(part: number, total: number): string {
  return total === 0 ? '-' : `${Math.round((part / total) * 100)}%`;
}

if (import.meta.main) await main();

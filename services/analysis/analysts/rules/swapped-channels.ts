import type { Language } from '@call-analysis/events';
import type { Conversation } from '../analyst.ts';
import { CUE_ID, LEXICON_ID, sidesPhrasebook } from './concepts.ts';
import { findPhrases } from './matching/find-phrases.ts';
import { Words } from './matching/words.ts';
import { findOwnName, namesOf } from './own-names.ts';

/** Who serves whom shows at the beginning of a call. */
const EXAMINED_UTTERANCES = 14;
/** Utterances of a role in which the name of the company or the operator counts. */
const OPENING_UTTERANCES = 2;

/** On the tuning conversations, half of those with swapped roles have as many signs, and none of the others. */
const LEAST_SIGNS = 2;

const words = new Words();

/**
 * Whether the words suggest that operator and client are swapped: the client offers help and the operator asks for it,
 * more than the reverse.
 */
export function seemSwapped({
  language,
  utterances,
  ...known
}: Pick<Conversation, 'language' | 'utterances' | 'operatorName' | 'firmName'>): boolean {
  const book = sidesPhrasebook(language);
  const names = namesOf(known);
  // `serves`: says what only the side of the company says; `asks`: says what only a caller with a concern says.
  const signs = {
    operator: { serves: 0, asks: 0, spoken: 0 },
    client: { serves: 0, asks: 0, spoken: 0 },
  };
  for (const { role, text } of utterances.slice(0, EXAMINED_UTTERANCES)) {
    const own = signs[role];
    own.spoken += 1;
    words.read(text, book);
    findPhrases(words, book, (concept, first, end) => {
      if (concept === CUE_ID.serving) own.serves += 1;
      else if (concept === CUE_ID.problem) own.asks += 1;
      else if (concept === LEXICON_ID.unhappy && !words.isNegated(first, end, book)) own.asks += 1;
    });
    if (own.spoken <= OPENING_UTTERANCES && findOwnName(text, words, names) >= 0) own.serves += 1;
  }
  const { operator, client } = signs;
  const serves = client.serves - operator.serves;
  return serves > 0 && serves + operator.asks - client.asks >= LEAST_SIGNS;
}

/** For the history of the call. */
export const SWAPPED_NOTE: Readonly<Record<Language, string>> = {
  en: 'The channels seem to be swapped: the client speaks for the company, and the operator asks for help. The answers need a review.',
  ru: 'Похоже, каналы перепутаны: клиент говорит от имени компании, а оператор просит о помощи. Ответы нужно проверить.',
  uz: 'Kanallar almashib qolganga o‘xshaydi: mijoz kompaniya nomidan gapiradi, operator esa yordam so‘raydi. Javoblarni tekshirish kerak.',
  ky: 'Каналдар алмашып калган окшойт: кардар компаниянын атынан сүйлөйт, оператор жардам сурайт. Жоопторду текшерүү керек.',
  es: 'Los canales parecen intercambiados: el cliente habla por la empresa y el operador pide ayuda. Hay que revisar las respuestas.',
};

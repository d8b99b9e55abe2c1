import type { Language, Utterance } from '@call-analysis/events';
import type { Conversation } from '../analysts/analyst.ts';

/** A conversation without times. Each line begins with `O:` for the operator or `C:` for the client. */
export function conversationOf(language: Language | null, ...lines: readonly string[]): Conversation {
  const utterances = lines.map((line): Utterance => ({
    role: line.startsWith('O:') ? 'operator' : 'client',
    text: line.slice(2).trim(),
    start: null,
    end: null,
  }));
  return { language, firmLanguage: 'en' as const, tags: [], segmentType: 'support', duration: null, utterances };
}

import { Language } from '@call-analysis/events';
import { defaultScorecard } from '../scorecards/default-scorecard.ts';
import { analyzeByRules } from './rule-analyst.ts';

const AFTER_START_MS = 200;

/**
 * Compiles the phrases of every language soon after the start. Otherwise the first call of a language would wait for this,
 * for 30 to 150 ms. No analyst is called: that may cost money. Returns a function that cancels it.
 */
export function warmUp(): () => void {
  const timer = setTimeout(() => {
    for (const language of Language.options) {
      const utterances = [{ role: 'operator' as const, text: 'a', start: null, end: null }];
      const conversation = {
        language,
        firmLanguage: 'en' as const,
        tags: [],
        segmentType: '',
        duration: null,
        utterances,
      };
      setImmediate(() => void analyzeByRules(conversation, defaultScorecard));
    }
  }, AFTER_START_MS);
  return () => clearTimeout(timer);
}

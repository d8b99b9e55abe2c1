import { Language } from '@call-analysis/events';
import { defaultScorecard } from '../scorecards/default-scorecard.ts';
import type { Analyst } from './analyst.ts';

const AFTER_START_MS = 200;

/**
 * Compiles the phrases of every language soon after the start. Otherwise the first call of a language would wait for this,
 * for 30 to 150 ms. Returns a function that cancels it.
 */
export function warmUp(analyst: Analyst): () => void {
  const timer = setTimeout(() => {
    for (const language of Language.options) {
      const utterances = [{ role: 'operator' as const, text: 'a', start: null, end: null }];
      const conversation = { language, tags: [], segmentType: '', duration: null, utterances };
      setImmediate(() => void analyst.analyze(conversation, defaultScorecard).catch(() => {}));
    }
  }, AFTER_START_MS);
  return () => clearTimeout(timer);
}

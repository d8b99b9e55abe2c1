import { randomUUID } from 'node:crypto';
import type { Lexicon } from '@call-analysis/events';
import { draftSchema, type Scorecard, toScorecardBody } from '../scorecards/scorecard.ts';

/** A scorecard with one question: Yes when the operator says something of the lexicon. */
export function lexiconScorecard(lexicon: Lexicon): Scorecard {
  const question = {
    text: `Was there ${lexicon}?`,
    weight: 1,
    choices: [
      { label: 'Yes', points: 1 },
      { label: 'No', points: 0 },
    ],
    decided: {
      by: 'rule',
      cases: [{ heard: { role: 'operator', source: { lexicon } }, answer: 'Yes' }],
      otherwise: 'No',
    },
  };
  const draft = draftSchema.parse({ name: lexicon, sections: [{ name: 'All', questions: [question] }] });
  return { ...toScorecardBody(draft, randomUUID), uuid: randomUUID(), revision: 1 };
}

import { randomUUID } from 'node:crypto';
import type { LanguageModelConfig } from '../language-model/config.ts';
import { draftSchema, type Scorecard, toScorecardBody } from '../scorecards/scorecard.ts';

const yesNo = [
  { label: 'Yes', points: 1 },
  { label: 'No', points: 0 },
];

export const modelQuestions = {
  greeting: {
    text: 'Did the operator greet the client?',
    weight: 1,
    choices: yesNo,
    decided: {
      by: 'rule',
      cases: [{ heard: { role: 'operator', source: { lexicon: 'greeting' } }, answer: 'Yes' }],
      otherwise: 'No',
    },
  },
  solution: { text: 'Did the operator offer a solution?', weight: 2, choices: yesNo, decided: { by: 'model' } },
  respect: {
    text: 'Was the operator respectful?',
    weight: 1,
    choices: [
      { label: 'Respectful', points: 1 },
      { label: 'Abusive', points: 0, auto_fail: true },
    ],
    decided: {
      by: 'model',
      fallback: {
        cases: [{ heard: { role: 'operator', source: { lexicon: 'abuse' } }, answer: 'Abusive' }],
        otherwise: 'Respectful',
      },
    },
  },
};

/** A scorecard with a question for the rules and two for a model, or with these questions. */
export function modelScorecard(questions: readonly object[] = Object.values(modelQuestions)): Scorecard {
  const draft = draftSchema.parse({ name: 'Service', sections: [{ name: 'All', questions }] });
  return { ...toScorecardBody(draft, randomUUID), uuid: randomUUID(), revision: 1 };
}

export function modelConfig(url: string, change: Partial<LanguageModelConfig> = {}): LanguageModelConfig {
  return {
    provider: 'openai',
    url,
    model: 'test-model',
    concurrency: 20,
    timeoutMs: 300_000,
    giveUpAfterMs: 86_400_000,
    ...change,
  };
}

import type { Choice, Heard, Lexicon, Question } from '@call-analysis/events';
import type { Scorecard } from './scorecard.ts';

type QuestionText = Pick<Question, 'uuid' | 'text' | 'weight'>;

const YES = 'Yes';
const NO = 'No';

function choice(label: string, points: number, autoFail = false): Choice {
  return { label, points, auto_fail: autoFail };
}

function says(role: Heard['role'], lexicon: Lexicon, change: Partial<Heard> = {}): Heard {
  return { role, where: 'anywhere', source: { lexicon }, even_negated: false, at_least: 1, ...change };
}

/** A question that is answered Yes when the operator says something of the lexicon. */
function yesIfSaid(question: QuestionText, lexicon: Lexicon, where: Heard['where'] = 'anywhere'): Question {
  return {
    ...question,
    choices: [choice(YES, 1), choice(NO, 0)],
    decided: {
      by: 'rule',
      applies: { spoke: ['operator'], heard: null },
      cases: [{ heard: says('operator', lexicon, { where }), answer: YES }],
      otherwise: NO,
    },
  };
}

/** A question that gives points unless the operator says something of the lexicons. */
function goodUnlessSaid(
  question: QuestionText,
  good: string,
  cases: readonly { lexicon: Lexicon; answer: Choice }[],
): Question {
  return {
    ...question,
    choices: [choice(good, 1), ...cases.map(({ answer }) => answer)],
    decided: {
      by: 'rule',
      applies: { spoke: ['operator'], heard: null },
      cases: cases.map(({ lexicon, answer }) => ({
        heard: says('operator', lexicon),
        answer: answer.label,
      })),
      otherwise: good,
    },
  };
}

/** The first scorecard of every firm. The uuids of its questions are fixed, so that answers can be compared across firms. */
export const defaultScorecard: Scorecard = {
  uuid: 'd0c7a3c4-6f0e-4c57-9a51-2f6a8e1b7d10',
  revision: 1,
  name: 'Quality of service',
  sections: [
    {
      name: 'Opening',
      questions: [
        yesIfSaid(
          {
            uuid: 'd0c7a3c4-6f0e-4c57-9a51-2f6a8e1b7d11',
            text: 'Did the operator greet the client?',
            weight: 8,
          },
          'greeting',
          'opening',
        ),
        yesIfSaid(
          {
            uuid: 'd0c7a3c4-6f0e-4c57-9a51-2f6a8e1b7d12',
            text: 'Did the operator give a name or the company?',
            weight: 8,
          },
          'introduction',
          'opening',
        ),
        yesIfSaid(
          {
            uuid: 'd0c7a3c4-6f0e-4c57-9a51-2f6a8e1b7d13',
            text: 'Did the operator find out what the client needs?',
            weight: 10,
          },
          'need',
        ),
      ],
    },
    {
      name: 'Handling the request',
      questions: [
        {
          uuid: 'd0c7a3c4-6f0e-4c57-9a51-2f6a8e1b7d14',
          text: 'Did the operator show understanding for an unhappy client?',
          weight: 10,
          choices: [choice(YES, 1), choice(NO, 0)],
          decided: {
            by: 'rule',
            applies: { spoke: ['operator', 'client'], heard: says('client', 'unhappy') },
            cases: [{ heard: says('operator', 'empathy'), answer: YES }],
            otherwise: NO,
          },
        },
        {
          uuid: 'd0c7a3c4-6f0e-4c57-9a51-2f6a8e1b7d15',
          text: 'Did the operator offer a clear solution?',
          weight: 14,
          choices: [choice('Clear solution', 1), choice('Sent away', 0), choice('No solution', 0)],
          decided: {
            by: 'rule',
            applies: { spoke: ['operator'], heard: null },
            cases: [
              { heard: says('operator', 'refusal', { even_negated: true }), answer: 'Sent away' },
              { heard: says('operator', 'solution'), answer: 'Clear solution' },
            ],
            otherwise: 'No solution',
          },
        },
        yesIfSaid(
          {
            uuid: 'd0c7a3c4-6f0e-4c57-9a51-2f6a8e1b7d16',
            text: 'Did the operator explain causes or conditions?',
            weight: 5,
          },
          'explanation',
        ),
        yesIfSaid(
          {
            uuid: 'd0c7a3c4-6f0e-4c57-9a51-2f6a8e1b7d17',
            text: 'Did the operator check that they understood each other?',
            weight: 5,
          },
          'understanding',
        ),
        yesIfSaid(
          {
            uuid: 'd0c7a3c4-6f0e-4c57-9a51-2f6a8e1b7d18',
            text: 'Did the operator use polite words?',
            weight: 6,
          },
          'courtesy',
        ),
        goodUnlessSaid(
          {
            uuid: 'd0c7a3c4-6f0e-4c57-9a51-2f6a8e1b7d19',
            text: 'Did the operator avoid promises without a date?',
            weight: 8,
          },
          'No vague promise',
          [{ lexicon: 'dead_promise', answer: choice('Vague promise', 0) }],
        ),
      ],
    },
    {
      name: 'Closing and conduct',
      questions: [
        yesIfSaid(
          {
            uuid: 'd0c7a3c4-6f0e-4c57-9a51-2f6a8e1b7d1a',
            text: 'Did the operator agree on the next step?',
            weight: 10,
          },
          'next_step',
        ),
        yesIfSaid(
          {
            uuid: 'd0c7a3c4-6f0e-4c57-9a51-2f6a8e1b7d1b',
            text: 'Did the operator offer further help?',
            weight: 8,
          },
          'further_help',
        ),
        yesIfSaid(
          {
            uuid: 'd0c7a3c4-6f0e-4c57-9a51-2f6a8e1b7d1c',
            text: 'Did the operator say goodbye politely?',
            weight: 8,
          },
          'farewell',
          'closing',
        ),
        goodUnlessSaid(
          {
            uuid: 'd0c7a3c4-6f0e-4c57-9a51-2f6a8e1b7d1d',
            text: 'Was the operator respectful?',
            weight: 10,
          },
          'Respectful',
          [
            { lexicon: 'abuse', answer: choice('Abusive', 0, true) },
            { lexicon: 'rudeness', answer: choice('Rude', 0) },
          ],
        ),
        goodUnlessSaid(
          {
            uuid: 'd0c7a3c4-6f0e-4c57-9a51-2f6a8e1b7d1e',
            text: 'Did the operator refrain from blaming the client?',
            weight: 6,
          },
          'No blame',
          [{ lexicon: 'blame', answer: choice('Blamed the client', 0) }],
        ),
      ],
    },
  ],
};

import type { Choice, Language, Lexicon, PhraseDecision, Question } from '@call-analysis/events';
import { DEFAULT_TEXTS, type DefaultTexts } from './default-texts.ts';
import { questionUuids, type Scorecard } from './scorecard.ts';

/** The subject of a question. Its text and labels come from DEFAULT_TEXTS. */
interface Subject {
  /** The end of the uuid. */
  readonly id: string;
  readonly text: string;
  readonly weight: number;
}

function choice(label: string, points: number, autoFail = false): Choice {
  return { label, points, auto_fail: autoFail };
}

function uuidOf(id: string): string {
  return `d0c7a3c4-6f0e-4c57-9a51-2f6a8e1b7d${id}`;
}

/**
 * Questions that ask whether the operator avoided something: the answer with the most points says that nothing of the kind happened,
 * so it has no quote.
 */
export const AVOIDANCES: ReadonlySet<string> = new Set(['19', '1d', '1e'].map(uuidOf));

/** A question for a language model. Without one the fallback answers it, or it stays open. */
function question(
  { id, text, weight }: Subject,
  choices: Choice[],
  instructions: string,
  fallback: PhraseDecision | null = null,
): Question {
  return {
    uuid: uuidOf(id),
    text,
    weight,
    choices,
    decided: { by: 'model', role: 'operator', instructions, fallback },
  };
}

function scorecardIn(texts: DefaultTexts): Scorecard {
  const yes = choice(texts.yes, 1);
  const no = choice(texts.no, 0);
  const ifSaid = (lexicon: Lexicon, where: 'opening' | 'closing'): PhraseDecision => {
    const heard = { role: 'operator', where, source: { lexicon }, even_negated: false, at_least: 1 } as const;
    return {
      applies: { spoke: ['operator'], heard: null },
      cases: [{ heard, answer: yes.label }],
      otherwise: no.label,
    };
  };
  return {
    uuid: 'd0c7a3c4-6f0e-4c57-9a51-2f6a8e1b7d10',
    revision: 1,
    name: texts.name,
    sections: [
      {
        name: texts.opening,
        questions: [
          question(
            { id: '11', text: texts.greeting, weight: 8 },
            [yes, no],
            'Yes: any greeting at the beginning, in whatever words. Thanks for the call alone are none.',
            ifSaid('greeting', 'opening'),
          ),
          question(
            { id: '12', text: texts.introduction, weight: 8 },
            [yes, no],
            'Yes: the operator gives their own name or that of the company or service at the beginning; one of them is enough.',
            ifSaid('introduction', 'opening'),
          ),
          question(
            { id: '13', text: texts.need, weight: 10 },
            [yes, choice(texts.partly, 0.5), no],
            'Yes: by the end the operator knows what the client needs and shows it. Partly: only an opening formula, or the wrong thing at first. No: the operator misunderstands or does not ask.',
          ),
          question(
            { id: '1f', text: texts.clientName, weight: 4 },
            [yes, no],
            "Yes: the operator addresses the client by the client's own name at least once. A wrong name is no. Does not apply when the client gives no name.",
          ),
        ],
      },
      {
        name: texts.request,
        questions: [
          question(
            { id: '14', text: texts.empathy, weight: 10 },
            [yes, no],
            'Does not apply when the client is in no trouble and not upset. Yes: the operator responds to how the client feels, in whatever words. No: formulas said coldly, in mockery or as a reproach.',
          ),
          question(
            { id: '15', text: texts.solution, weight: 14 },
            [
              choice(texts.clearSolution, 1),
              choice(texts.partialSolution, 0.5),
              choice(texts.noSolution, 0),
              choice(texts.sentAway, 0),
            ],
            'Judge what the client gets, not how it is said. Partial: a part of the matter is settled, or the operator only says where to turn to and how. Sent away: the operator refuses to deal with it and leaves the client alone.',
          ),
          question(
            { id: '16', text: texts.explanation, weight: 5 },
            [yes, no],
            'Yes: the client can understand from it why something happened or what the rules are. Jargon that is not explained is no. Does not apply when there is nothing to explain.',
          ),
          question(
            { id: '17', text: texts.understanding, weight: 5 },
            [yes, no],
            'Yes: the operator makes sure that both mean the same, by repeating what was agreed or said, or by asking whether it is clear or right. A question to which the answer is not awaited is no.',
          ),
          question(
            { id: '18', text: texts.courtesy, weight: 6 },
            [yes, no],
            'Yes: the operator is polite throughout, in whatever words. Polite formulas beside mockery, reproach or indifference are no.',
          ),
          question(
            { id: '19', text: texts.promises, weight: 8 },
            [choice(texts.noVaguePromise, 1), choice(texts.vaguePromise, 0)],
            'A promise is vague when nobody can hold the operator to it, or when the operator cannot know that it will be kept. A date, a time or a rule makes it a firm one. Nothing promised is no vague promise.',
          ),
        ],
      },
      {
        name: texts.closing,
        questions: [
          question(
            { id: '1a', text: texts.nextStep, weight: 10 },
            [yes, no],
            'Yes: both know at the end who does what next and when, or that nothing is left to do. A step without a time, or one that the client does not hear of, is no.',
          ),
          question(
            { id: '1b', text: texts.furtherHelp, weight: 8 },
            [yes, no],
            'Yes: the operator asks whether the client needs anything else, or offers to be there for more, in whatever words. Said so that the client cannot answer is no.',
          ),
          question(
            { id: '1c', text: texts.farewell, weight: 8 },
            [yes, no],
            'Yes: the operator ends the call with a goodbye or good wishes. Hanging up, or a farewell in mockery, is no.',
            ifSaid('farewell', 'closing'),
          ),
          question(
            { id: '1d', text: texts.respect, weight: 10 },
            [choice(texts.respectful, 1), choice(texts.abusive, 0, true), choice(texts.rude, 0)],
            'Judge the whole manner: mockery, talking down and threats in polite words are rude. Abusive: an insult to the person. What the operator quotes from others is not the operator speaking.',
          ),
          question(
            { id: '1e', text: texts.blame, weight: 6 },
            [choice(texts.noBlame, 1), choice(texts.blamed, 0)],
            "Blame: the operator holds the trouble against the client or reproaches the client. Naming the client's part in it as a fact, without reproach, is no blame.",
          ),
        ],
      },
    ],
  };
}

const scorecards = new Map<Language, Scorecard>();

/**
 * The first scorecard of a new firm, in the firm's language. The uuids of its questions are fixed, so that answers can
 * be compared across firms. A firm that has it in an earlier form keeps that until it takes this one.
 */
export function defaultScorecardIn(language: Language): Scorecard {
  let scorecard = scorecards.get(language);
  if (scorecard === undefined) {
    scorecard = scorecardIn(DEFAULT_TEXTS[language]);
    scorecards.set(language, scorecard);
  }
  return scorecard;
}

export const defaultScorecard = defaultScorecardIn('en');

/** The uuids that a new revision may name: those of the one before, and of the default scorecard, which may replace it. */
export function revisableUuids(newest: Pick<Scorecard, 'sections'>): Set<string> {
  return questionUuids(newest).union(questionUuids(defaultScorecard));
}

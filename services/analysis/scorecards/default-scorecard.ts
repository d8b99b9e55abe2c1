import type { Choice, Heard, Language, Lexicon, PhraseDecision, Question } from '@call-analysis/events';
import { DEFAULT_TEXTS, type DefaultTexts } from './default-texts.ts';
import type { Scorecard } from './scorecard.ts';

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

function says(role: Heard['role'], lexicon: Lexicon, change: Partial<Heard> = {}): Heard {
  return { role, where: 'anywhere', source: { lexicon }, even_negated: false, at_least: 1, ...change };
}

const OPERATOR_SPOKE: PhraseDecision['applies'] = { spoke: ['operator'], heard: null };

function question(subject: Subject, choices: Choice[], decided: Question['decided']): Question {
  const { id, text, weight } = subject;
  return { uuid: `d0c7a3c4-6f0e-4c57-9a51-2f6a8e1b7d${id}`, text, weight, choices, decided };
}

/** A question that needs a language model; without one, the phrases decide. */
function byModel(subject: Subject, choices: Choice[], instructions: string, fallback: PhraseDecision | null): Question {
  return question(subject, choices, { by: 'model', role: 'operator', instructions, fallback });
}

/** Answers with the first choice when the operator says something of the lexicon, otherwise with the second. */
function ifSaid(lexicon: Lexicon, said: Choice, notSaid: Choice, where: Heard['where'] = 'anywhere'): PhraseDecision {
  return {
    applies: OPERATOR_SPOKE,
    cases: [{ heard: says('operator', lexicon, { where }), answer: said.label }],
    otherwise: notSaid.label,
  };
}

function scorecardIn(texts: DefaultTexts): Scorecard {
  const yes = choice(texts.yes, 1);
  const no = choice(texts.no, 0);
  const yesIfSaid = (subject: Subject, lexicon: Lexicon, where: Heard['where'] = 'anywhere'): Question =>
    question(subject, [yes, no], { by: 'rule', ...ifSaid(lexicon, yes, no, where) });
  const clearSolution = choice(texts.clearSolution, 1);
  const sentAway = choice(texts.sentAway, 0);
  const noSolution = choice(texts.noSolution, 0);
  const noVaguePromise = choice(texts.noVaguePromise, 1);
  const vaguePromise = choice(texts.vaguePromise, 0);
  const respectful = choice(texts.respectful, 1);
  const rude = choice(texts.rude, 0);
  const abusive = choice(texts.abusive, 0, true);
  const noBlame = choice(texts.noBlame, 1);
  const blamed = choice(texts.blamed, 0);
  return {
    uuid: 'd0c7a3c4-6f0e-4c57-9a51-2f6a8e1b7d10',
    revision: 1,
    name: texts.name,
    sections: [
      {
        name: texts.opening,
        questions: [
          yesIfSaid({ id: '11', text: texts.greeting, weight: 8 }, 'greeting', 'opening'),
          yesIfSaid({ id: '12', text: texts.introduction, weight: 8 }, 'introduction', 'opening'),
          byModel(
            { id: '13', text: texts.need, weight: 10 },
            [yes, choice(texts.partly, 0.5), no],
            'Yes: by the end the operator knows what the client needs and shows it. Partly: only an opening formula, or the wrong thing at first. No: the operator misunderstands or does not ask.',
            ifSaid('need', yes, no),
          ),
          byModel(
            { id: '1f', text: texts.clientName, weight: 4 },
            [yes, no],
            "Yes: the operator addresses the client by the client's own name at least once. A wrong name is no. Does not apply when the client gives no name.",
            null,
          ),
        ],
      },
      {
        name: texts.request,
        questions: [
          byModel(
            { id: '14', text: texts.empathy, weight: 10 },
            [yes, no],
            'Does not apply when the client is in no trouble and not upset. Yes: the operator responds to how the client feels, in whatever words. No: formulas said coldly, in mockery or as a reproach.',
            {
              applies: { spoke: ['operator', 'client'], heard: says('client', 'unhappy') },
              cases: [{ heard: says('operator', 'empathy'), answer: yes.label }],
              otherwise: no.label,
            },
          ),
          byModel(
            { id: '15', text: texts.solution, weight: 14 },
            [clearSolution, choice(texts.partialSolution, 0.5), sentAway, noSolution],
            'Judge what the client gets, not how it is said. Partial: a part of the matter is settled, or the operator only says where to turn to and how. Sent away: the operator refuses to deal with it and leaves the client alone.',
            {
              applies: OPERATOR_SPOKE,
              cases: [
                { heard: says('operator', 'refusal', { even_negated: true }), answer: sentAway.label },
                { heard: says('operator', 'solution'), answer: clearSolution.label },
              ],
              otherwise: noSolution.label,
            },
          ),
          byModel(
            { id: '16', text: texts.explanation, weight: 5 },
            [yes, no],
            'Yes: the client can understand from it why something happened or what the rules are. Jargon that is not explained is no. Does not apply when there is nothing to explain.',
            ifSaid('explanation', yes, no),
          ),
          yesIfSaid({ id: '17', text: texts.understanding, weight: 5 }, 'understanding'),
          yesIfSaid({ id: '18', text: texts.courtesy, weight: 6 }, 'courtesy'),
          byModel(
            { id: '19', text: texts.promises, weight: 8 },
            [noVaguePromise, vaguePromise],
            'A promise is vague when nobody can hold the operator to it, or when the operator cannot know that it will be kept. A date, a time or a rule makes it a firm one.',
            ifSaid('dead_promise', vaguePromise, noVaguePromise),
          ),
        ],
      },
      {
        name: texts.closing,
        questions: [
          yesIfSaid({ id: '1a', text: texts.nextStep, weight: 10 }, 'next_step'),
          yesIfSaid({ id: '1b', text: texts.furtherHelp, weight: 8 }, 'further_help'),
          yesIfSaid({ id: '1c', text: texts.farewell, weight: 8 }, 'farewell', 'closing'),
          byModel(
            { id: '1d', text: texts.respect, weight: 10 },
            [respectful, abusive, rude],
            'Judge the whole manner: mockery, talking down and threats in polite words are rude. Abusive: an insult to the person. What the operator quotes from others is not the operator speaking.',
            {
              applies: OPERATOR_SPOKE,
              cases: [
                { heard: says('operator', 'abuse'), answer: abusive.label },
                { heard: says('operator', 'rudeness'), answer: rude.label },
              ],
              otherwise: respectful.label,
            },
          ),
          byModel(
            { id: '1e', text: texts.blame, weight: 6 },
            [noBlame, blamed],
            "Blame: the operator holds the trouble against the client or reproaches the client. Naming the client's part in it as a fact, without reproach, is no blame.",
            ifSaid('blame', blamed, noBlame),
          ),
        ],
      },
    ],
  };
}

const scorecards = new Map<Language, Scorecard>();

/**
 * The first scorecard of a new firm, in the firm's language. The uuids of its questions are fixed, so that answers can
 * be compared across firms. A firm that has it in an earlier form keeps that.
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

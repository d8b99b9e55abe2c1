import type { Choice, Language, Lexicon, PhraseDecision, Question } from '@call-analysis/events';
import { DEFAULT_TEXTS } from './default-texts.ts';
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

/**
 * The first scorecard of a new firm, in the firm's language. The uuids of its questions are fixed, so that answers can
 * be compared across firms. A firm that has it in an earlier form keeps that until it takes this one.
 */
export function defaultScorecardIn(language: Language): Scorecard {
  const texts = DEFAULT_TEXTS[language];
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
            'Yes: any greeting at the beginning, in whatever words. No: none; thanks for the call, a name alone or a word that takes the call ("speaking", "go ahead") are none.',
            ifSaid('greeting', 'opening'),
          ),
          question(
            { id: '12', text: texts.introduction, weight: 8 },
            [yes, no],
            'Yes: the operator gives their own name or that of the company or service at the beginning; one of them is enough. No: neither, or only when the client asks for it; the kind of business or a department ("bank", "reservations") is no name.',
            ifSaid('introduction', 'opening'),
          ),
          question(
            { id: '13', text: texts.need, weight: 10 },
            [yes, choice(texts.partly, 0.5), no],
            'Judge whether it is understood, not whether it is served. Yes: what the operator says shows that they know what the client wants, asked for or told unasked, also where they then refuse, scorn it or do nothing. Partly: late, or only in part, such as the subject without what the client wants to know of it. No: what the operator says goes past it to the end, or there is nothing but an opening formula.',
          ),
          question(
            { id: '1f', text: texts.clientName, weight: 4 },
            [yes, no],
            "Yes: the operator addresses the client by the client's own name at least once, also by a name that the operator knows without being told. No: a name is known in the call and not used to address the client, or the name is wrong. Does not apply when no name of the client comes up.",
          ),
        ],
      },
      {
        name: texts.request,
        questions: [
          question(
            { id: '14', text: texts.empathy, weight: 10 },
            [yes, no],
            'Does not apply when the client is calm about an ordinary matter: a question, an order, a fault that does not distress them. Yes: the operator responds to how the client feels, in sincere words, whether or not help follows, or without words by care that goes beyond the routine. No: the feelings are passed over; a token exclamation; formulas said coldly, in mockery or as a reproach; kind words that doubt or dismissal then takes back.',
          ),
          question(
            { id: '15', text: texts.solution, weight: 14 },
            [
              choice(texts.clearSolution, 1),
              choice(texts.partialSolution, 0.5),
              choice(texts.noSolution, 0),
              choice(texts.sentAway, 0),
            ],
            'Judge what the client gets, not how it is said. Clear: the matter is settled, or it is certain who does what and by when. Partial: a part of it is settled; it is passed on or put on a list and the client learns what happens then; or the operator, who cannot settle it, says where and how the client can. No solution: nothing comes of it, also when it is passed on and the client learns no more than that somebody will see to it some time, or is told to do it without being told how. Sent away: the operator will not deal with it and leaves the client to another place, a website, a number or another day.',
          ),
          question(
            { id: '16', text: texts.explanation, weight: 5 },
            [yes, no],
            'Yes: the client can understand from it why something happened, what applies and why, or what to do for safety, in whatever tone it is said. No: a rule without its reason, a guess, an excuse, jargon, or nothing where the client asks. Does not apply when there is nothing to explain.',
          ),
          question(
            { id: '17', text: texts.understanding, weight: 5 },
            [yes, no],
            'Yes: the operator makes sure that both mean the same, by repeating what the client said or what was agreed so that the client can correct it, or by asking whether it is clear or right. No: neither, or a question to which the answer is not awaited; to state terms or to ask for data is none.',
          ),
          question(
            { id: '18', text: texts.courtesy, weight: 6 },
            [yes, no],
            'Judge the words: help, respect and blame have questions of their own. Yes: polite words such as please, thanks, an apology or good wishes, or an unmistakably courteous manner without them, also where the operator does not help or reproaches the client in courteous form. No: curt; nothing but the opening greeting or the closing formula; polite words only to mock or belittle.',
          ),
          question(
            { id: '19', text: texts.promises, weight: 8 },
            [choice(texts.noVaguePromise, 1), choice(texts.vaguePromise, 0)],
            'Vague: nobody can hold the operator to the promise, or the operator cannot know that it will be kept. No vague promise: each has a date, a time or a rule, or nothing is promised. This always applies.',
          ),
        ],
      },
      {
        name: texts.closing,
        questions: [
          question(
            { id: '1a', text: texts.nextStep, weight: 10 },
            [yes, no],
            'Yes: both know at the end who does what next and when, or that nothing is left to do. No: something is left open, or a step has no time or is not said to the client.',
          ),
          question(
            { id: '1b', text: texts.furtherHelp, weight: 8 },
            [yes, no],
            'Yes: the operator asks whether the client needs anything else, offers something more unasked, or offers to be there for more, in whatever words; a question asked in passing counts. No: none of these; "is that all" to end the call, or what to do if an agreed step fails.',
          ),
          question(
            { id: '1c', text: texts.farewell, weight: 8 },
            [yes, no],
            'Yes: the operator ends the call with a goodbye or good wishes, also informally or after a call that went badly. No: hanging up, a bare "bye" that cuts the client short, or a farewell in mockery or after an insult.',
            ifSaid('farewell', 'closing'),
          ),
          question(
            { id: '1d', text: texts.respect, weight: 10 },
            [choice(texts.respectful, 1), choice(texts.abusive, 0, true), choice(texts.rude, 0)],
            'Judge how the client is treated as a person, not how well they are helped. Respectful: also where the operator is brief, formal, gushing or evasive, or refuses. Rude: mockery, laughing at the client, threats, lecturing, a dismissive or condescending manner, talking down however sweetly, belittling pet names. Abusive: an insult to the person, said outright or by implication. What the operator quotes from others is not the operator speaking.',
          ),
          question(
            { id: '1e', text: texts.blame, weight: 6 },
            [choice(texts.noBlame, 1), choice(texts.blamed, 0)],
            "Blamed: the operator holds the trouble against the client or reproaches the client, also in courteous form or by implication. No blame: nothing of the kind, or the client's part in it is named as a fact, without reproach.",
          ),
        ],
      },
    ],
  };
}

export const defaultScorecard = defaultScorecardIn('en');

/** The uuids that a new revision may name: those of the one before, and of the default scorecard, which may replace it. */
export function revisableUuids(newest: Pick<Scorecard, 'sections'>): Set<string> {
  return questionUuids(newest).union(questionUuids(defaultScorecard));
}

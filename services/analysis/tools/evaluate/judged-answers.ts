import type { Answer, Language } from '@call-analysis/events';
import type { Analyst } from '../../analysts/analyst.ts';
import type { Scorecard } from '../../scorecards/scorecard.ts';
import type { LabelledConversation } from './labelled-conversations.ts';
import type { QuestionMap } from './questions.ts';

/** An answer of an analyst beside the right one. Null: the question does not apply. */
export interface JudgedAnswer {
  readonly conversation: string;
  readonly question: string;
  readonly language: Language;
  readonly right: string | null;
  /** `open` when the analyst has left the question open. */
  readonly given: string | null;
  readonly needsReview: boolean;
  readonly answer: Answer;
}

/** What an analyst did with labelled conversations. */
export interface Judged {
  readonly analyst: string;
  readonly answers: readonly JudgedAnswer[];
  /** Of each conversation: its pair, how it was handled, and its score. */
  readonly scores: readonly {
    readonly pair: string | null;
    readonly handled: 'well' | 'badly' | null;
    readonly language: Language;
    readonly score: number | null;
  }[];
  /** What the language model cost; null without one, or without prices. */
  readonly cost: { readonly amount: number; readonly currency: string } | null;
}

export const OPEN = 'open';

/** Has the analyst answer every conversation, and puts the right answers beside. */
export async function judge(
  { analyst, redactForModel = false }: { readonly analyst: Analyst; readonly redactForModel?: boolean },
  scorecard: Scorecard,
  questions: QuestionMap,
  conversations: readonly LabelledConversation[],
): Promise<Judged> {
  const answers: JudgedAnswer[] = [];
  const scores: Judged['scores'][number][] = [];
  let amount = 0;
  let currency: string | null = null;
  for (const conversation of conversations) {
    const { id, language, pair, handled, utterances, duration, segment, operator_name, company } = conversation;
    const result = await analyst.analyze(
      {
        language,
        firmLanguage: 'en',
        redactForModel,
        tags: [],
        segmentType: segment,
        operatorName: operator_name,
        firmName: company,
        duration,
        utterances,
      },
      scorecard,
    );
    scores.push({ pair, handled, language, score: result.score });
    const cost = result.usage?.cost ?? null;
    if (cost !== null) {
      amount += Number(cost.amount);
      currency = cost.currency;
    }
    const given = new Map(result.sections.flatMap((section) => section.questions).map((each) => [each.uuid, each]));
    for (const [question, right] of Object.entries(conversation.answers)) {
      const asked = questions[question];
      const answer = asked === undefined ? undefined : given.get(asked.question);
      if (asked === undefined || answer === undefined) continue;
      answers.push({
        conversation: id,
        question,
        language,
        right: right === null ? null : (asked.counts_as[right] ?? right),
        given: givenLabel(answer, asked.labels),
        needsReview: answer.needs_review,
        answer,
      });
    }
  }
  return { analyst: nameOf(analyst), answers, scores, cost: currency === null ? null : { amount, currency } };
}

/** What one analyst did under several scorecards. */
export function joinJudged(analyst: Analyst, parts: readonly Judged[]): Judged {
  const costs = parts.flatMap(({ cost }) => (cost === null ? [] : [cost]));
  return {
    analyst: nameOf(analyst),
    answers: parts.flatMap(({ answers }) => answers),
    scores: parts.flatMap(({ scores }) => scores),
    cost:
      costs[0] === undefined
        ? null
        : { amount: costs.reduce((sum, { amount }) => sum + amount, 0), currency: costs[0].currency },
  };
}

function nameOf({ name, model }: Analyst): string {
  return model === null ? name : `${name} (${model})`;
}

function givenLabel({ answer, not_applicable }: Answer, labels: Readonly<Record<string, string>>): string | null {
  if (answer !== null) return labels[answer] ?? answer;
  return not_applicable ? null : OPEN;
}

import type { Answer, Language } from '@call-analysis/events';
import type { AnalysisResult, Analyst } from '../../analysts/analyst.ts';
import { ModelFailure } from '../../language-model/outcome.ts';
import type { Scorecard } from '../../scorecards/scorecard.ts';
import type { LabelledConversation, QuestionMap } from './labelled-conversations.ts';

/** An answer of an analyst and the right one. Null: the question does not apply. */
export interface JudgedAnswer {
  readonly conversation: string;
  readonly question: string;
  readonly language: Language;
  readonly right: string | null;
  /** `open` when the analyst has left the question open. */
  readonly given: string | null;
  readonly needsReview: boolean;
  /** Null when the analyst failed. */
  readonly answer: Answer | null;
}

/** The results of an analyst on labelled conversations. */
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
  /** Conversations about which the language model refused to answer, or gave no usable answer. */
  readonly failed: number;
  /** The cost of the language model; null without one, or without prices. */
  readonly cost: { readonly amount: number; readonly currency: string } | null;
}

const OPEN = 'open';

export interface Examinee {
  readonly analyst: Analyst;
  readonly redactForModel?: boolean;
  /** Concurrent conversations. Default 1. */
  readonly concurrency?: number;
}

/** Has the analyst answer every conversation, and pairs its answers with the right ones. */
export async function judge(
  { analyst, redactForModel = false, concurrency = 1 }: Examinee,
  scorecard: Scorecard,
  questions: QuestionMap,
  conversations: readonly LabelledConversation[],
): Promise<Judged> {
  const results: (AnalysisResult | null)[] = [];
  const left = conversations.entries();
  // When one conversation fails, the requests in progress are of no use and may cost money.
  const stopped = new AbortController();
  const work = async () => {
    // All workers take from the same iterator, so that each conversation is asked about once.
    for (const [at, conversation] of left) {
      if (stopped.signal.aborted) return;
      results[at] = await analyzeLabelled(conversation);
    }
  };
  async function analyzeLabelled(labelled: LabelledConversation): Promise<AnalysisResult | null> {
    const { language, utterances, duration, segment, operator_name, company } = labelled;
    const conversation = {
      language,
      firmLanguage: 'en' as const,
      redactForModel,
      tags: [],
      segmentType: segment,
      operatorName: operator_name,
      firmName: company,
      duration,
      utterances,
    };
    try {
      return await analyst.analyze(conversation, scorecard, stopped.signal);
    } catch (error) {
      if (error instanceof ModelFailure && (error.kind === 'refused' || error.kind === 'unreadable')) return null;
      stopped.abort(error);
      throw error;
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work));
  return {
    analyst: nameOf(analyst),
    answers: conversations.flatMap((conversation, at) => judgeAnswers(conversation, results[at] ?? null, questions)),
    scores: conversations.map(({ pair, handled, language }, at) => ({
      pair,
      handled,
      language,
      score: results[at]?.score ?? null,
    })),
    failed: results.filter((result) => result === null).length,
    cost: sumOf(results.flatMap((result) => result?.usage?.cost ?? [])),
  };
}

function sumOf(costs: readonly { readonly amount: string | number; readonly currency: string }[]): Judged['cost'] {
  const [first] = costs;
  return first === undefined
    ? null
    : { amount: costs.reduce((sum, { amount }) => sum + Number(amount), 0), currency: first.currency };
}

function judgeAnswers(
  { id, language, answers }: LabelledConversation,
  result: AnalysisResult | null,
  questions: QuestionMap,
): JudgedAnswer[] {
  const given = new Map(result?.sections.flatMap((section) => section.questions).map((each) => [each.uuid, each]));
  return Object.entries(answers).flatMap(([question, right]) => {
    const asked = questions[question];
    const answer = asked === undefined ? undefined : given.get(asked.question);
    if (asked === undefined || (answer === undefined && result !== null)) return [];
    const label = answer === undefined ? OPEN : givenLabel(answer, asked.labels);
    return {
      conversation: id,
      question,
      language,
      right: right === null ? null : (asked.counts_as[right] ?? right),
      given: label,
      needsReview: label === OPEN || answer?.needs_review !== false,
      answer: answer ?? null,
    };
  });
}

/** The results of one analyst under several scorecards. */
export function joinJudged(analyst: Analyst, parts: readonly Judged[]): Judged {
  return {
    analyst: nameOf(analyst),
    answers: parts.flatMap(({ answers }) => answers),
    scores: parts.flatMap(({ scores }) => scores),
    failed: parts.reduce((sum, { failed }) => sum + failed, 0),
    cost: sumOf(parts.flatMap(({ cost }) => cost ?? [])),
  };
}

function nameOf({ name, model }: Analyst): string {
  return model === null ? name : `${name} (${model})`;
}

function givenLabel({ answer, not_applicable }: Answer, labels: Readonly<Record<string, string>>): string | null {
  if (answer !== null) return labels[answer] ?? answer;
  return not_applicable ? null : OPEN;
}

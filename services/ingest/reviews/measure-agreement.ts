import { agreementOf, type Confusion } from './compare-answers.ts';
import type { AgreementFilter, Reviews } from './review-store.ts';

interface QuestionAgreement {
  readonly uuid: string;
  readonly text: string;
  readonly n: number;
  /** From 0 to 1. */
  readonly agreement: number;
  readonly kappa: number | null;
  readonly confusion: readonly Confusion[];
}

/** How far people agree with the machine, for each question of a scorecard (docs/api.md, "People's judgement"). */
export async function measureAgreement(
  deps: { readonly reviews: Reviews },
  firmUuid: string,
  filter: AgreementFilter,
): Promise<{ reviewed_calls: number; questions: QuestionAgreement[] }> {
  const { calls, counts } = await deps.reviews.compare(firmUuid, filter);
  const byQuestion = Map.groupBy(counts, ({ question }) => question);
  const questions = [...byQuestion].map(([uuid, ofQuestion]) => {
    const confusion = ofQuestion.map(({ machine, person, count }) => ({ machine, person, count }));
    return { uuid, text: ofQuestion[0]!.text, ...agreementOf(confusion), confusion };
  });
  return { reviewed_calls: calls, questions };
}

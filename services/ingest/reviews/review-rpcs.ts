import { type Agreement, AgreementQuery, ComparedQuery, NewReview } from '@call-analysis/api/people';
import { type ApiRequest, apiRpc } from '@call-analysis/service';
import type { z } from 'zod';
import { agreementOf } from './compare-answers.ts';
import { readReview, reviewAnalysis, type ReviewDeps, withdrawReview } from './review-analysis.ts';
import { givenAnswers } from './review-log.ts';
import type { AgreementFilter, Reviews } from './review-store.ts';

export function reviewRpcs(deps: ReviewDeps) {
  return {
    reviewAnalysis: apiRpc((request) => {
      const review = { isWhole: true as const, comment: null, done: false, ...written(request) };
      return reviewAnalysis(deps, request.caller, request.uuid, review);
    }),
    changeReview: apiRpc((request) =>
      reviewAnalysis(deps, request.caller, request.uuid, { isWhole: false, ...written(request) }),
    ),
    readReview: apiRpc(async ({ caller, uuid }) => {
      const found = await readReview(deps, caller.firmUuid, uuid);
      const { review, log, analysisUuid } = found;
      const { revision, by, at } = log!;
      const { comment, done } = review!;
      return { analysis_uuid: analysisUuid, revision, by, at, comment, done, answers: givenAnswers(found) };
    }),
    withdrawReview: apiRpc(({ caller, uuid, basedOn }) => withdrawReview(deps, caller, uuid, basedOn)),
    measureAgreement: apiRpc(({ caller, uuid, read }) =>
      measureAgreement(deps, caller.firmUuid, { scorecardUuid: uuid, ...read(AgreementQuery) }),
    ),
    listComparedCalls: apiRpc(({ caller, uuid, read }) => {
      return deps.reviews.comparedCalls(caller.firmUuid, { scorecardUuid: uuid, ...read(ComparedQuery) });
    }),
  };
}

function written({ basedOn, read }: ApiRequest) {
  const { analysis_uuid: analysisUuid, answers, ...rest } = read(NewReview);
  const given = answers.map(({ comment = null, ...answer }) => ({ ...answer, comment }));
  return { analysisUuid, basedOn, answers: given, ...rest };
}

/** How far people agree with the machine, for each question of a scorecard (docs/api.md, "People's judgement"). */
export async function measureAgreement(
  deps: { readonly reviews: Reviews },
  firmUuid: string,
  filter: AgreementFilter,
): Promise<z.output<typeof Agreement>> {
  const { calls, counts } = await deps.reviews.compare(firmUuid, filter);
  const byQuestion = Map.groupBy(counts, ({ question }) => question);
  const questions = [...byQuestion].map(([uuid, ofQuestion]) => {
    const confusion = ofQuestion.map(({ machine, person, count }) => ({ machine, person, count }));
    return { uuid, text: ofQuestion[0]!.text, ...agreementOf(confusion), confusion };
  });
  return { reviewed_calls: calls, questions };
}

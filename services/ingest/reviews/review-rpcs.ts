import { Uuid } from '@call-analysis/events';
import type { ingest } from '@call-analysis/proto';
import type { MeasureAgreementRequest } from '@call-analysis/proto/ingest/v1/MeasureAgreementRequest';
import type { PersonAnswer as PersonAnswerMessage } from '@call-analysis/proto/ingest/v1/PersonAnswer';
import type { Handlers } from '@call-analysis/rpc';
import { PageRequest, requireCaller } from '@call-analysis/service';
import { answerOf } from '../answer.ts';
import { measureAgreement } from './measure-agreement.ts';
import { readReview, reviewAnalysis, type ReviewDeps, withdrawReview } from './review-analysis.ts';
import { givenAnswers } from './review-log.ts';
import type { AgreementFilter } from './review-store.ts';
import type { PersonAnswer } from './scorecards.ts';

/** The RPCs of reviews. */
export function reviewRpcs(deps: ReviewDeps) {
  return {
    reviewAnalysis: async (request) => {
      const analysis = await reviewAnalysis(deps, requireCaller(request.caller), Uuid.parse(request.call_uuid), {
        isWhole: true,
        analysisUuid: Uuid.parse(request.analysis_uuid),
        basedOn: request.based_on ?? null,
        answers: request.answers.map(personAnswer),
        comment: request.comment ?? null,
        done: request.done,
      });
      return { analysis_json: JSON.stringify(analysis) };
    },

    changeReview: async (request) => {
      const analysis = await reviewAnalysis(deps, requireCaller(request.caller), Uuid.parse(request.call_uuid), {
        isWhole: false,
        analysisUuid: Uuid.parse(request.analysis_uuid),
        basedOn: request.based_on ?? null,
        answers: request.answers.map(personAnswer),
        ...(request.comment !== undefined && { comment: request.comment }),
        ...(request.done !== undefined && { done: request.done }),
      });
      return { analysis_json: JSON.stringify(analysis) };
    },

    readReview: async (request) => {
      const { firmUuid } = requireCaller(request.caller);
      const found = await readReview(deps, firmUuid, Uuid.parse(request.call_uuid));
      const { review, log, analysisUuid } = found;
      const { revision, by, at } = log!;
      const { comment, done } = review!;
      const answers = givenAnswers(found);
      return answerOf({ analysis_uuid: analysisUuid, revision, by, at, comment, done, answers });
    },

    withdrawReview: async (request) => {
      const callUuid = Uuid.parse(request.call_uuid);
      const analysis = await withdrawReview(deps, requireCaller(request.caller), callUuid, request.based_on ?? null);
      return { analysis_json: JSON.stringify(analysis) };
    },

    measureAgreement: async (request) => {
      const { firmUuid } = requireCaller(request.caller);
      const { reviewedCalls, questions } = await measureAgreement(deps, firmUuid, filterOf(request));
      return answerOf({ reviewed_calls: reviewedCalls, questions });
    },

    listComparedCalls: async (request) => {
      const { firmUuid } = requireCaller(request.agreement!.caller);
      const { count, items } = await deps.reviews.comparedCalls(
        firmUuid,
        filterOf(request.agreement!),
        {
          questionUuid: Uuid.parse(request.question_uuid),
          machine: request.machine ?? null,
          person: request.person ?? null,
        },
        PageRequest.parse(request),
      );
      return answerOf({
        count,
        items: items.map(({ uuid, operatorName, startTime, ...same }) => ({
          call_uuid: uuid,
          operator_name: operatorName,
          start_time: startTime,
          ...same,
        })),
      });
    },
  } satisfies Partial<Handlers<typeof ingest>>;
}

function personAnswer({ question_uuid, answer, comment }: PersonAnswerMessage): PersonAnswer {
  return { questionUuid: Uuid.parse(question_uuid), answer: answer ?? null, comment: comment ?? null };
}

function filterOf(request: MeasureAgreementRequest): AgreementFilter {
  const time = (text: string | undefined) => (text === undefined ? null : new Date(Date.parse(text)));
  return {
    scorecardUuid: Uuid.parse(request.scorecard_uuid),
    revision: request.revision ?? null,
    from: time(request.from),
    to: time(request.to),
    language: request.language ?? null,
    segmentType: request.segment_type ?? null,
  };
}

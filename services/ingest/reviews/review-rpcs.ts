import type { Bus } from '@call-analysis/bus';
import { Uuid } from '@call-analysis/events';
import type { ingest } from '@call-analysis/proto';
import type { MeasureAgreementRequest } from '@call-analysis/proto/ingest/v1/MeasureAgreementRequest';
import type { Handlers } from '@call-analysis/rpc';
import { requireCaller } from '@call-analysis/service';
import { z } from 'zod';
import type { Store } from '../store/index.ts';
import { measureAgreement } from './measure-agreement.ts';
import { reviewAnalysis, withdrawReview } from './review-analysis.ts';
import type { AgreementFilter } from './review-store.ts';
import type { Scorecards } from './scorecards.ts';

const Page = z.object({ page: z.int().min(1), size: z.int().min(1).max(100) });

/** The RPCs of reviews. */
export function reviewRpcs(parts: { store: Store; bus: Bus; scorecards: Scorecards }) {
  return {
    reviewAnalysis: async (request) => {
      const analysis = await reviewAnalysis(parts, requireCaller(request.caller), Uuid.parse(request.call_uuid), {
        analysisUuid: Uuid.parse(request.analysis_uuid),
        answers: request.answers.map(({ question_uuid, answer, comment }) => ({
          questionUuid: Uuid.parse(question_uuid),
          answer: answer ?? null,
          comment: comment ?? null,
        })),
        comment: request.comment ?? null,
        done: request.done,
      });
      return { analysis_json: JSON.stringify(analysis) };
    },

    withdrawReview: async (request) => ({
      analysis_json: JSON.stringify(
        await withdrawReview(parts, requireCaller(request.caller), Uuid.parse(request.call_uuid)),
      ),
    }),

    measureAgreement: async (request) => {
      const { firmUuid } = requireCaller(request.caller);
      const { reviewedCalls, questions } = await measureAgreement(parts.store, firmUuid, filterOf(request));
      return {
        reviewed_calls: reviewedCalls,
        questions: questions.map(({ kappa, confusion, ...question }) => ({
          ...question,
          ...(kappa !== null && { kappa }),
          confusion: confusion.map(({ machine, person, count }) => ({
            count,
            ...(machine !== null && { machine }),
            ...(person !== null && { person }),
          })),
        })),
      };
    },

    listComparedCalls: async (request) => {
      const { firmUuid } = requireCaller(request.agreement!.caller);
      const { count, items } = await parts.store.reviews.comparedCalls(
        firmUuid,
        filterOf(request.agreement!),
        {
          questionUuid: Uuid.parse(request.question_uuid),
          machine: request.machine ?? null,
          person: request.person ?? null,
        },
        Page.parse(request),
      );
      return {
        count,
        items: items.map(({ uuid, operatorName, startTime, score, machine, person }) => ({
          call_uuid: uuid,
          operator_name: operatorName,
          start_time: startTime.toISOString(),
          ...(score !== null && { score }),
          ...(machine !== null && { machine }),
          ...(person !== null && { person }),
        })),
      };
    },
  } satisfies Partial<Handlers<typeof ingest>>;
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

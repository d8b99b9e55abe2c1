import { DisputeQuery } from '@call-analysis/api/desk';
import { Uuid } from '@call-analysis/events';
import { desk } from '@call-analysis/proto';
import type { ViewFields as ViewFieldsMessage } from '@call-analysis/proto/desk/v1/ViewFields';
import type { ListCallsRequest } from '@call-analysis/proto/ingest/v1/ListCallsRequest';
import { implement } from '@call-analysis/rpc';
import { Instant, PageRequest } from '@call-analysis/service';
import { z } from 'zod';
import { callItem } from '../calls/call-item.ts';
import { filterOf, NO_FILTER } from '../listing/call-filter.ts';
import type { ReviewDeps } from '../reviews/review-analysis.ts';
import { acknowledgeReview, assignCall, readCallDesk } from './assign-call.ts';
import {
  answerCalibration,
  closeCalibration,
  createCalibration,
  listCalibrations,
  readCalibration,
} from './calibrate.ts';
import type { Calibrations } from './calibration-store.ts';
import { decideDispute, disputeAnswer } from './dispute-answer.ts';
import type { Disputes } from './dispute-store.ts';
import { putMentionAway, readInbox } from './inbox-store.ts';
import type { ReviewQueue } from './queue/queue-store.ts';
import { readQueue, releaseLease, takeNextCall } from './queue/take-next-call.ts';
import { answer, callerOf } from './requests.ts';
import type { ChooseDeps } from './sampling/choose-calls.ts';
import { samplingRpcs } from './sampling/sampling-rpcs.ts';
import { changeView, createView, deleteView } from './save-view.ts';
import type { ViewFields, Views } from './view-store.ts';

const Query = z.record(z.string(), z.unknown());

interface Deps extends ReviewDeps, ChooseDeps {
  readonly views: Views;
  readonly disputes: Disputes;
  readonly calibrations: Calibrations;
  readonly queue: ReviewQueue;
}

/** The service of proto/desk.proto. The gateway has validated requests and checked the roles. */
export function deskService(deps: Deps) {
  const { db, views, disputes } = deps;
  return implement(
    desk,
    {},
    {
      ...samplingRpcs(deps),
      listViews: async ({ caller, page }) => {
        const { firmUuid, userUuid } = callerOf(caller);
        return answer(await views.list(firmUuid, userUuid, PageRequest.parse(page)));
      },
      getView: async ({ caller, view_uuid }) => {
        const { firmUuid, userUuid } = callerOf(caller);
        return answer(await views.get(firmUuid, userUuid, Uuid.parse(view_uuid)));
      },
      createView: async ({ caller, fields }) => {
        const given = { name: '', query: {}, shared: false, start_page: false, ...viewFields(fields) };
        return answer(await createView(deps, callerOf(caller), given));
      },
      changeView: async ({ caller, view_uuid, fields }) =>
        answer(await changeView(deps, callerOf(caller), Uuid.parse(view_uuid), viewFields(fields))),
      deleteView: async ({ caller, view_uuid }) => {
        await deleteView(deps, callerOf(caller), Uuid.parse(view_uuid));
        return answer({});
      },
      assignCall: async ({ caller, call_uuid, user_uuid, due }) =>
        answer(
          await assignCall(deps, callerOf(caller), Uuid.parse(call_uuid), {
            userUuid: Uuid.optional().parse(user_uuid) ?? null,
            due: Instant.optional().parse(due) ?? null,
          }),
        ),
      acknowledgeReview: async ({ caller, call_uuid }) =>
        answer(await acknowledgeReview(deps, callerOf(caller), Uuid.parse(call_uuid))),
      readCallDesk: async ({ caller, call_uuid }) =>
        answer(await readCallDesk(deps, callerOf(caller), Uuid.parse(call_uuid))),
      disputeAnswer: async ({ caller, call_uuid, question_uuid, reason }) =>
        answer(
          await disputeAnswer(deps, callerOf(caller), Uuid.parse(call_uuid), {
            questionUuid: Uuid.parse(question_uuid),
            reason,
          }),
        ),
      listDisputes: async ({ caller, status, page }) => {
        return answer(await disputes.list(callerOf(caller), DisputeQuery.parse({ status, ...page })));
      },
      decideDispute: async ({ caller, dispute_uuid, status, changes_answer, answer: label, comment }) =>
        answer(
          await decideDispute(deps, callerOf(caller), Uuid.parse(dispute_uuid), {
            status: z.enum(['accepted', 'rejected']).parse(status),
            answer: changes_answer ? (label ?? null) : undefined,
            comment,
          }),
        ),
      createCalibration: async ({ caller, name, call_uuids, user_uuids, due }) =>
        answer(
          await createCalibration(deps, callerOf(caller), {
            name,
            callUuids: z.array(Uuid).parse(call_uuids),
            userUuids: z.array(Uuid).parse(user_uuids),
            due: Instant.optional().parse(due) ?? null,
          }),
        ),
      listCalibrations: async ({ caller, page }) => {
        return answer(await listCalibrations(deps, callerOf(caller), PageRequest.parse(page)));
      },
      getCalibration: async ({ caller, calibration_uuid }) =>
        answer(await readCalibration(deps, callerOf(caller), Uuid.parse(calibration_uuid))),
      answerCalibration: async ({ caller, calibration_uuid, call_uuid, answers }) =>
        answer(
          await answerCalibration(
            deps,
            callerOf(caller),
            Uuid.parse(calibration_uuid),
            Uuid.parse(call_uuid),
            answers.map((each) => ({ questionUuid: Uuid.parse(each.question_uuid), answer: each.answer ?? null })),
          ),
        ),
      closeCalibration: async ({ caller, calibration_uuid }) =>
        answer(await closeCalibration(deps, callerOf(caller), Uuid.parse(calibration_uuid))),
      takeNextCall: async ({ caller, filter, rule_uuid, skip }) => {
        const asked = { ...wanted(filter, rule_uuid), skip: z.array(Uuid).parse(skip) };
        const taken = await takeNextCall(deps, callerOf(caller), asked, new Date());
        return answer(taken && { call: callItem(taken.call), lease_until: taken.until });
      },
      releaseLease: async ({ caller, call_uuid }) => {
        await releaseLease(deps, callerOf(caller), Uuid.parse(call_uuid));
        return answer({});
      },
      readQueue: async ({ caller, filter, rule_uuid }) =>
        answer(await readQueue(deps, callerOf(caller), wanted(filter, rule_uuid), new Date())),
      readInbox: async ({ caller, page }) => {
        return answer(await readInbox(db, callerOf(caller), PageRequest.parse(page)));
      },
      putMentionAway: async ({ caller, comment_uuid }) => {
        await putMentionAway(db, callerOf(caller), Uuid.parse(comment_uuid));
        return answer({});
      },
    },
  );
}

/** Which calls of the queue are asked for. */
function wanted(filter: ListCallsRequest | null, ruleUuid: string | undefined) {
  return {
    filter: filter === null ? NO_FILTER : filterOf(filter, null),
    ruleUuid: Uuid.optional().parse(ruleUuid) ?? null,
  };
}

function viewFields(fields: ViewFieldsMessage | null): Partial<ViewFields> {
  const { name, query_json: query, shared, start_page } = fields ?? {};
  return {
    ...(name !== undefined && { name }),
    ...(query !== undefined && { query: Query.parse(JSON.parse(query)) }),
    ...(shared !== undefined && { shared }),
    ...(start_page !== undefined && { start_page }),
  };
}

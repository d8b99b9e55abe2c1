import {
  DisputeDecision,
  DisputeQuery,
  NewAssignment,
  NewCalibration,
  NewCalibrationAnswers,
  NewDispute,
  NewView,
  NextCallRequest,
  QueueQuery,
  ViewChange,
} from '@call-analysis/api/desk';
import { PageQuery } from '@call-analysis/api/fields';
import { desk } from '@call-analysis/proto';
import { implement } from '@call-analysis/rpc';
import { apiRpc } from '@call-analysis/service';
import { callItem } from '../calls/read-call.ts';
import { filterFor, NO_FILTER } from '../listing/call-filter.ts';
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
import type { ChooseDeps } from './sampling/choose-calls.ts';
import { samplingRpcs } from './sampling/sampling-rpcs.ts';
import { changeView, createView, deleteView } from './save-view.ts';
import type { Views } from './view-store.ts';

interface Deps extends ReviewDeps, ChooseDeps {
  readonly views: Views;
  readonly disputes: Disputes;
  readonly calibrations: Calibrations;
  readonly queue: ReviewQueue;
}

/** The service of proto/desk.proto. */
export function deskService(deps: Deps) {
  const { db, views, disputes } = deps;
  return implement(
    desk,
    {},
    {
      ...samplingRpcs(deps),
      listViews: apiRpc(({ caller, read }) => views.list(caller.firmUuid, caller.userUuid, read(PageQuery))),
      getView: apiRpc(({ caller, uuid }) => views.get(caller.firmUuid, caller.userUuid, uuid)),
      createView: apiRpc(({ caller, read }) =>
        createView(deps, caller, { shared: false, start_page: false, ...read(NewView) }),
      ),
      changeView: apiRpc(({ caller, uuid, read }) => changeView(deps, caller, uuid, read(ViewChange))),
      deleteView: apiRpc(({ caller, uuid }) => deleteView(deps, caller, uuid)),
      assignCall: apiRpc(({ caller, uuid, read }) => assignCall(deps, caller, uuid, read(NewAssignment))),
      acknowledgeReview: apiRpc(({ caller, uuid }) => acknowledgeReview(deps, caller, uuid)),
      readCallDesk: apiRpc(({ caller, uuid }) => readCallDesk(deps, caller, uuid)),
      disputeAnswer: apiRpc(({ caller, uuid, read }) => disputeAnswer(deps, caller, uuid, read(NewDispute))),
      listDisputes: apiRpc(({ caller, read }) => disputes.list(caller, read(DisputeQuery))),
      decideDispute: apiRpc(({ caller, uuid, read }) => decideDispute(deps, caller, uuid, read(DisputeDecision))),
      createCalibration: apiRpc(({ caller, read }) => createCalibration(deps, caller, read(NewCalibration))),
      listCalibrations: apiRpc(({ caller, read }) => listCalibrations(deps, caller, read(PageQuery))),
      getCalibration: apiRpc(({ caller, uuid }) => readCalibration(deps, caller, uuid)),
      answerCalibration: apiRpc(({ caller, uuid, partUuid, read }) =>
        answerCalibration(deps, caller, uuid, partUuid, read(NewCalibrationAnswers)),
      ),
      closeCalibration: apiRpc(({ caller, uuid }) => closeCalibration(deps, caller, uuid)),
      takeNextCall: apiRpc(async ({ caller, read }) => {
        const { filter, rule_uuid: ruleUuid = null, skip } = read(NextCallRequest);
        const wanted = { filter: filter === undefined ? NO_FILTER : filterFor(caller, filter), ruleUuid, skip };
        const taken = await takeNextCall(deps, caller, wanted, new Date());
        return taken === null ? undefined : { call: callItem(taken.call), lease_until: taken.until };
      }),
      releaseLease: apiRpc(({ caller, uuid }) => releaseLease(deps, caller, uuid)),
      readQueue: apiRpc(({ caller, read }) => {
        const { rule_uuid: ruleUuid = null, ...filter } = read(QueueQuery);
        return readQueue(deps, caller, { filter: filterFor(caller, filter), ruleUuid }, new Date());
      }),
      readInbox: apiRpc(({ caller, read }) => readInbox(db, caller, read(PageQuery))),
      putMentionAway: apiRpc(({ caller, uuid }) => putMentionAway(db, caller, uuid)),
    },
  );
}

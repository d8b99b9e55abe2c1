import { FilterInBody } from '@call-analysis/api/call-query';
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
import { NewSamplingRule, SamplingRuleChange } from '@call-analysis/api/sampling';
import { notFound } from '@call-analysis/fault';
import { desk } from '@call-analysis/proto';
import { implement } from '@call-analysis/rpc';
import { apiRpc, type Publishing } from '@call-analysis/service';
import type { z } from 'zod';
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
import { chooseByRule, type ChooseDeps } from './sampling/choose-calls.ts';
import type { SamplingRule } from './sampling/sampling-store.ts';
import { changeRule, createRule, deleteRule, type RuleFields, shownRule } from './sampling/save-rule.ts';
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

function samplingRpcs(deps: ChooseDeps & Publishing) {
  const { db, sampling } = deps;

  /** An enabled rule chooses of the last period at once. Where that fails now, the schedule does it. */
  async function chosen(firmUuid: string, rule: SamplingRule) {
    const id = { firmUuid, ruleUuid: rule.uuid };
    if (rule.enabled_at !== null) await chooseByRule(deps, id, new Date()).catch(() => {});
    return shown(firmUuid, rule);
  }

  async function shown(firmUuid: string, rule: SamplingRule) {
    return shownRule(rule, (await sampling.newest(db, firmUuid, [rule.uuid])).get(rule.uuid));
  }

  async function find(firmUuid: string, ruleUuid: string): Promise<SamplingRule> {
    const rule = await sampling.find(db, { firmUuid, ruleUuid });
    if (rule === null) throw notFound('sampling rule');
    return rule;
  }

  return {
    listSamplingRules: apiRpc(async ({ caller: { firmUuid }, read }) => {
      const { count, items } = await sampling.list(firmUuid, read(PageQuery));
      const uuids = items.map(({ uuid }) => uuid);
      const last = await sampling.newest(db, firmUuid, uuids);
      return { count, items: items.map((rule) => shownRule(rule, last.get(rule.uuid))) };
    }),
    getSamplingRule: apiRpc(async ({ caller: { firmUuid }, uuid }) => shown(firmUuid, await find(firmUuid, uuid))),
    createSamplingRule: apiRpc(async ({ caller, read }) => {
      const fields = { count: null, share: null, enabled: true, ...fieldsOf(read(NewSamplingRule)) } as RuleFields;
      return chosen(caller.firmUuid, await createRule(deps, caller, fields));
    }),
    changeSamplingRule: apiRpc(async ({ caller, uuid, read }) =>
      chosen(caller.firmUuid, await changeRule(deps, caller, uuid, fieldsOf(read(SamplingRuleChange)))),
    ),
    deleteSamplingRule: apiRpc(({ caller, uuid }) => deleteRule(deps, caller, uuid)),
    listSamples: apiRpc(async ({ caller: { firmUuid }, uuid, read }) => {
      const { uuid: ruleUuid } = await find(firmUuid, uuid);
      return sampling.samples({ firmUuid, ruleUuid }, read(PageQuery));
    }),
  };
}

/** A number of calls takes the place of a share, and the other way round. */
function fieldsOf({ filter, count, share, ...rest }: z.output<typeof SamplingRuleChange>): Partial<RuleFields> {
  return {
    ...rest,
    ...(count !== undefined && { count, share: null }),
    ...(share !== undefined && { share, count: null }),
    ...(filter !== undefined && { filter, meaning: FilterInBody.parse(filter) }),
  };
}

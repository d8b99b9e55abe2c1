import { isDeepStrictEqual } from 'node:util';
import type { Bus } from '@call-analysis/bus';
import { Uuid } from '@call-analysis/events';
import { analysis } from '@call-analysis/proto';
import type { Caller } from '@call-analysis/proto/analysis/v1/Caller';
import type { ScorecardReply } from '@call-analysis/proto/analysis/v1/ScorecardReply';
import { type Callers, implement } from '@call-analysis/rpc';
import { answer, apiRequest, apiRpc, auditEntry, PageRequest, present, requireCaller } from '@call-analysis/service';
import type { Firms } from '@call-analysis/service/firms';
import { z } from 'zod';
import { type TrialDeps, TriedCall, tryScorecard } from './calls/try-scorecard.ts';
import { type MoneyDeps, moneyRpcs } from './money/money-rpcs.ts';
import { defaultScorecardIn } from './scorecards/default-scorecard.ts';
import type { StoredScorecard } from './scorecards/scorecard-store.ts';
import { addUp } from './scorecards/totals.ts';
import { createScorecard, reviseScorecard } from './scorecards/write-scorecard.ts';
import type { Store } from './store.ts';

/** Who may call a method of proto/analysis.proto, where it is not the gateway alone. */
export const callers: Callers<typeof analysis> = {
  getScorecard: ['gateway', 'ingest'],
  addUp: ['ingest'],
};

const Revision = z.int().min(0);
const Trial = z.object({ draft: z.unknown().optional(), call: TriedCall });

/** The service of proto/analysis.proto. The gateway has validated requests; documents are validated here. */
export function scorecardService(
  deps: {
    store: Store;
    firms: Firms;
    bus: Pick<Bus, 'publish'>;
    trial: Pick<TrialDeps, 'ruleAnalyst' | 'model'>;
  } & MoneyDeps,
) {
  const { scorecards } = deps.store;
  return implement(analysis, callers, {
    ...moneyRpcs(deps),
    async listScorecards(request) {
      const { firmUuid } = requireCaller(request.caller);
      await scorecards.ensureDefault(firmUuid, async () => (await deps.firms.settings(firmUuid)).language);
      const page = await scorecards.list(firmUuid, PageRequest.parse(request));
      return answer(request.caller, page, (json) => ({ ...json, items: json.items.map(present) }));
    },
    async createScorecard(request) {
      return reply(request.caller, await createScorecard(deps, requireCaller(request.caller), request.document));
    },
    async getScorecard(request) {
      const { firmUuid } = requireCaller(request.caller);
      return reply(
        request.caller,
        await scorecards.find(firmUuid, Uuid.parse(request.scorecard_uuid), request.revision),
      );
    },
    getDefaultScorecard: apiRpc(async ({ caller: { firmUuid } }) => {
      const { language } = await deps.firms.settings(firmUuid);
      await scorecards.ensureDefault(firmUuid, async () => language);
      const own = await scorecards.findDefault(firmUuid);
      const { name, sections } = defaultScorecardIn(language);
      return {
        scorecard_uuid: own.uuid,
        revision: own.revision,
        is_current: isDeepStrictEqual(own.sections, sections),
        is_edited: own.is_edited,
        name,
        segment_type: own.segment_type,
        sections,
      };
    }),
    async reviseScorecard(request) {
      const base = { uuid: Uuid.parse(request.scorecard_uuid), revision: Revision.parse(request.expected_revision) };
      return reply(request.caller, await reviseScorecard(deps, requireCaller(request.caller), base, request.document));
    },
    async activateScorecard(request) {
      const actor = requireCaller(request.caller);
      const uuid = Uuid.parse(request.scorecard_uuid);
      return reply(
        request.caller,
        await scorecards.activate(actor.firmUuid, uuid, (tx) =>
          deps.bus.publish(tx, [auditEntry('analysis', actor, 'scorecard.activated', uuid)]),
        ),
      );
    },
    async tryScorecard(request, { signal }) {
      const { caller, uuid, read } = apiRequest(request);
      const { draft, call } = read(Trial);
      const parts = { store: deps.store, firms: deps.firms, bus: deps.bus, ...deps.trial };
      const analysis = await tryScorecard(
        parts,
        caller,
        uuid,
        draft === undefined ? null : JSON.stringify(draft),
        call,
        signal,
      );
      return { json: Buffer.from(JSON.stringify(analysis)) };
    },
    async addUp(request) {
      const { firmUuid } = requireCaller(request.caller);
      const scorecard = await scorecards.find(firmUuid, Uuid.parse(request.scorecard_uuid), request.revision);
      const added = addUp(scorecard, request.machine, request.person, request.machine_auto_failed);
      return {
        ...(added.score !== null && { score: added.score }),
        auto_failed: added.autoFailed,
        auto_fail_suspected: added.autoFailSuspected,
        sections: added.sections.map((score) => (score === null ? {} : { score })),
        questions: added.questions.map(({ uuid, points, maxPoints }) => ({
          question_uuid: uuid,
          ...(points !== null && { points }),
          max_points: maxPoints,
        })),
      };
    },
    async listRevisions(request) {
      const { firmUuid } = requireCaller(request.caller);
      const uuid = Uuid.parse(request.scorecard_uuid);
      const page = await scorecards.listRevisions(firmUuid, uuid, PageRequest.parse(request));
      return answer(request.caller, page, (json) => ({ ...json, items: json.items.map(present) }));
    },
  });
}

function reply(caller: Caller | null, stored: StoredScorecard): ScorecardReply {
  return answer(caller, stored, ({ sections, ...scorecard }) => ({
    scorecard: present(scorecard),
    sections_json: JSON.stringify(sections),
  }));
}

import { FilterInBody } from '@call-analysis/api/call-query';
import { PageQuery } from '@call-analysis/api/fields';
import { NewSamplingRule, SamplingRuleChange } from '@call-analysis/api/sampling';
import type { Bus } from '@call-analysis/bus';
import { notFound } from '@call-analysis/fault';
import { apiRpc } from '@call-analysis/service';
import type { z } from 'zod';
import { chooseByRule, type ChooseDeps } from './choose-calls.ts';
import type { SamplingRule } from './sampling-store.ts';
import { changeRule, createRule, deleteRule, type RuleFields, shownRule } from './save-rule.ts';

/** The RPCs of sampling rules. */
export function samplingRpcs(deps: ChooseDeps & { readonly bus: Bus }) {
  const { db, sampling } = deps;

  /** An enabled rule chooses of the last period at once. Where that fails now, the schedule does it. */
  async function chosen(firmUuid: string, rule: SamplingRule) {
    const id = { firmUuid, ruleUuid: rule.uuid };
    if (rule.enabled_at !== null) await chooseByRule(deps, id, new Date()).catch(() => {});
    return shown(firmUuid, rule);
  }

  async function shown(firmUuid: string, rule: SamplingRule) {
    return shownRule(rule, (await sampling.newest(firmUuid, [rule.uuid])).get(rule.uuid));
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
      const last = await sampling.newest(firmUuid, uuids);
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
      const id = { firmUuid, ruleUuid };
      const [count, items] = await Promise.all([sampling.countSamples(id), sampling.samples(db, id, read(PageQuery))]);
      return { count, items };
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

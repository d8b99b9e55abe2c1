import type { Bus } from '@call-analysis/bus';
import { Uuid } from '@call-analysis/events';
import { notFound } from '@call-analysis/fault';
import type { desk } from '@call-analysis/proto';
import type { SamplingRuleFields } from '@call-analysis/proto/desk/v1/SamplingRuleFields';
import type { Handlers } from '@call-analysis/rpc';
import { PageRequest } from '@call-analysis/service';
import { z } from 'zod';
import { filterOf } from '../../listing/call-filter.ts';
import { answer, callerOf } from '../requests.ts';
import { chooseByRule, type ChooseDeps } from './choose-calls.ts';
import { GROUPS, PERIODS, type SamplingRule } from './sampling-store.ts';
import { changeRule, createRule, deleteRule, type RuleFields, shownRule } from './save-rule.ts';

const Fields = z.object({
  name: z.string().optional(),
  per: z.enum(Object.keys(GROUPS) as [keyof typeof GROUPS]).optional(),
  count: z.int().min(1).optional(),
  share: z.number().min(0).max(1).optional(),
  every: z.enum(PERIODS).optional(),
  enabled: z.boolean().optional(),
});
const Filter = z.record(z.string(), z.unknown());

/** The RPCs of sampling rules. */
export function samplingRpcs(
  deps: ChooseDeps & { readonly bus: Bus },
): Pick<
  Handlers<typeof desk>,
  | 'listSamplingRules'
  | 'getSamplingRule'
  | 'createSamplingRule'
  | 'changeSamplingRule'
  | 'deleteSamplingRule'
  | 'listSamples'
> {
  const { db, sampling } = deps;

  /** An enabled rule chooses of the last period at once. Where that fails now, the schedule does it. */
  async function chosen(firmUuid: string, rule: SamplingRule) {
    const id = { firmUuid, ruleUuid: rule.uuid };
    if (rule.enabledAt !== null) await chooseByRule(deps, id, new Date()).catch(() => {});
    return answer(shownRule(rule, (await sampling.newest(firmUuid, [rule.uuid])).get(rule.uuid)));
  }

  async function find(firmUuid: string, ruleUuid: string): Promise<SamplingRule> {
    const rule = await sampling.find(db, { firmUuid, ruleUuid });
    if (rule === null) throw notFound('sampling rule');
    return rule;
  }

  return {
    listSamplingRules: async ({ caller, page }) => {
      const { firmUuid } = callerOf(caller);
      const { count, items } = await sampling.list(firmUuid, PageRequest.parse(page));
      const last = await sampling.newest(
        firmUuid,
        items.map(({ uuid }) => uuid),
      );
      return answer({ count, items: items.map((rule) => shownRule(rule, last.get(rule.uuid))) });
    },
    getSamplingRule: async ({ caller, rule_uuid }) => {
      const { firmUuid } = callerOf(caller);
      const rule = await find(firmUuid, Uuid.parse(rule_uuid));
      return answer(shownRule(rule, (await sampling.newest(firmUuid, [rule.uuid])).get(rule.uuid)));
    },
    createSamplingRule: async ({ caller, fields }) => {
      const who = callerOf(caller);
      const rule = await createRule(deps, who, { count: null, share: null, ...fieldsOf(fields) } as RuleFields);
      return chosen(who.firmUuid, rule);
    },
    changeSamplingRule: async ({ caller, rule_uuid, fields }) => {
      const who = callerOf(caller);
      return chosen(who.firmUuid, await changeRule(deps, who, Uuid.parse(rule_uuid), fieldsOf(fields)));
    },
    deleteSamplingRule: async ({ caller, rule_uuid }) => {
      await deleteRule(deps, callerOf(caller), Uuid.parse(rule_uuid));
      return answer({});
    },
    listSamples: async ({ caller, rule_uuid, page }) => {
      const { firmUuid } = callerOf(caller);
      const { uuid: ruleUuid } = await find(firmUuid, Uuid.parse(rule_uuid));
      const id = { firmUuid, ruleUuid };
      const [count, items] = await Promise.all([
        sampling.countSamples(id),
        sampling.samples(db, id, PageRequest.parse(page)),
      ]);
      return answer({ count, items });
    },
  };
}

/** A number of calls takes the place of a share, and the other way round. */
function fieldsOf(fields: SamplingRuleFields | null): Partial<RuleFields> {
  const { filter_json: json, filter } = fields ?? {};
  const { count, share, ...rest } = Fields.parse(fields ?? {});
  return {
    ...(Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) as Partial<RuleFields>),
    ...(count !== undefined && { count, share: null }),
    ...(share !== undefined && { share, count: null }),
    ...(json !== undefined &&
      filter !== undefined &&
      filter !== null && {
        filter: Filter.parse(JSON.parse(json)),
        meaning: filterOf(filter, null),
      }),
  };
}

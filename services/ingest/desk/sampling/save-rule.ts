import { Fault, invalidFields, notFound } from '@call-analysis/fault';
import { auditEntry, type Person, type Publishing } from '@call-analysis/service';
import { v7 as uuidv7 } from 'uuid';
import type { Sample, Sampling, SamplingRule } from './sampling-store.ts';

const MOST_RULES = 100;

interface Deps extends Publishing {
  readonly sampling: Sampling;
}

export type RuleFields = Pick<SamplingRule, 'name' | 'filter' | 'meaning' | 'per' | 'count' | 'share' | 'every'> & {
  readonly enabled: boolean;
};

/** Fault TOO_MANY_RULES. */
export async function createRule(
  { db, bus, sampling }: Deps,
  caller: Person,
  { enabled, ...fields }: RuleFields,
): Promise<SamplingRule> {
  const at = new Date();
  const rule = {
    ...fields,
    uuid: uuidv7(),
    enabled_at: enabled ? at : null,
    by: caller.userUuid,
    created_at: at,
    updated_at: at,
  };
  await db.transaction(async (tx) => {
    if ((await sampling.countLocked(tx, caller.firmUuid)) >= MOST_RULES) {
      const message = `A firm has at most ${MOST_RULES} sampling rules. Delete one that is no longer used.`;
      throw new Fault('conflict', 'TOO_MANY_RULES', message);
    }
    await sampling.save(tx, caller.firmUuid, rule);
    await bus.publish(tx, [auditEntry('ingest', caller, 'sampling_rule.created', rule.uuid)]);
  });
  return rule;
}

/** A number of calls takes the place of a share, and the other way round. Fault NOT_FOUND. */
export async function changeRule(
  { db, bus, sampling }: Deps,
  caller: Person,
  ruleUuid: string,
  { enabled, ...fields }: Partial<RuleFields>,
): Promise<SamplingRule> {
  const id = { firmUuid: caller.firmUuid, ruleUuid };
  return db.transaction(async (tx) => {
    const rule = await sampling.find(tx, id, 'FOR UPDATE');
    if (rule === null) throw notFound('sampling rule');
    const at = new Date();
    const enabledAt = enabled === undefined ? rule.enabled_at : enabled ? (rule.enabled_at ?? at) : null;
    const changed = { ...rule, ...fields, enabled_at: enabledAt, updated_at: at };
    if ((changed.count === null) === (changed.share === null))
      throw invalidFields([{ field: 'count', code: 'INVALID', message: 'is required, or share in its place' }]);
    await sampling.save(tx, caller.firmUuid, changed);
    await bus.publish(tx, [auditEntry('ingest', caller, 'sampling_rule.changed', ruleUuid)]);
    return changed;
  });
}

/** With what it has chosen. Fault NOT_FOUND. */
export async function deleteRule({ db, bus, sampling }: Deps, caller: Person, ruleUuid: string): Promise<void> {
  const id = { firmUuid: caller.firmUuid, ruleUuid };
  await db.transaction(async (tx) => {
    if ((await sampling.find(tx, id, 'FOR UPDATE')) === null) throw notFound('sampling rule');
    await sampling.remove(tx, id);
    await bus.publish(tx, [auditEntry('ingest', caller, 'sampling_rule.deleted', ruleUuid)]);
  });
}

/** As the API shows it. */
export function shownRule(
  { meaning: _meaning, enabled_at: enabledAt, ...rule }: SamplingRule,
  last: Sample | undefined,
) {
  return { ...rule, enabled: enabledAt !== null, last_sample: last ?? null };
}

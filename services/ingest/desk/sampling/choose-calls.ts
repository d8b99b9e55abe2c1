import { randomBytes } from 'node:crypto';
import { attemptEach, Fault } from '@call-analysis/fault';
import type { Database, Sql } from '@call-analysis/postgres';
import type { Firms } from '@call-analysis/service/firms';
import type { CarryOver } from '../../listing/carry-over-store.ts';
import type { Words } from '../../search/word-store.ts';
import type { RuleId, Sample, Sampling } from './sampling-store.ts';

export interface ChooseDeps {
  readonly db: Database;
  readonly carryOver: CarryOver;
  readonly words: Words;
  readonly sampling: Sampling;
  readonly firms: Firms;
}

/** A service that is stopping waits for this run. */
const RUN_MS = 3_000;
/** How long the words of the firm's calls may take to be indexed. */
const CATCH_UP_MS = 3_000;

/** How long after its end a period is chosen of: the results of its last calls are still on their way then. */
const SETTLING_MS = 60_000;

/** Chooses calls by every rule of which a period has ended. */
export async function chooseCalls(deps: ChooseDeps, now: Date): Promise<void> {
  await attemptEach(await deps.sampling.enabled(now), (rule) => chooseByRule(deps, rule, now), RUN_MS);
}

/**
 * Chooses calls of the periods of a rule that have ended and that it has not chosen of yet: since it was enabled, and of the last
 * period before. One sample a rule and period, however many processes do it; a process that is killed leaves nothing of one.
 */
export async function chooseByRule(
  deps: ChooseDeps,
  id: RuleId,
  now: Date,
  newSeed = () => randomBytes(16).toString('hex'),
): Promise<void> {
  const { db, carryOver, sampling, firms } = deps;
  // Sums and lists of calls that are not carried over yet are incomplete.
  if (!(await carryOver.isDone())) return;
  const timeZone = await firms.find(id.firmUuid).then((firm) => firm.timeZone, unlessRemoved);
  if (timeZone === null) return;
  const known = await sampling.find(db, id);
  const q = known?.meaning.q;
  if (q !== undefined && !(await deps.words.catchUp(id.firmUuid, CATCH_UP_MS))) return;
  const words = q === undefined ? null : await deps.words.parse(id.firmUuid, q);
  const choose = async (tx: Sql): Promise<boolean> => {
    const rule = await sampling.find(tx, id, 'FOR UPDATE SKIP LOCKED');
    // It was removed, disabled or changed, or another process chooses by it.
    if (rule === null || rule.enabled_at === null || rule.meaning.q !== q) return false;
    const last = (await sampling.newest(tx, id.firmUuid, [id.ruleUuid])).get(id.ruleUuid) ?? null;
    const settled = new Date(now.getTime() - SETTLING_MS);
    const boundaries = await sampling.boundaries(tx, rule.every, timeZone, settled, last?.ends_at ?? null);
    const period = duePeriod(rule.enabled_at, last, boundaries);
    if (period === null) return false;
    const { filter, per, count, share, every } = rule;
    return sampling.choose(tx, { firmUuid: id.firmUuid, filter: rule.meaning, words }, rule, {
      begins_at: period.from,
      ends_at: period.to,
      time_zone: timeZone,
      seed: newSeed(),
      rule: { filter, per, count, share, every },
      at: now,
    });
  };
  while (await db.transaction(choose));
}

/** A period that has ended and of which the rule is to choose now. From inclusive, to exclusive. */
export function duePeriod(
  enabledAt: Date,
  last: Pick<Sample, 'ends_at' | 'at'> | null,
  { current, previous, following }: { current: Date; previous: Date; following: Date | null },
): { from: Date; to: Date } | null {
  if (last !== null && last.ends_at >= current) return null;
  // Without a gap, also where the time zone or the length of the periods has changed since.
  if (last !== null && last.at >= enabledAt && following !== null) return { from: last.ends_at, to: following };
  return { from: last !== null && last.ends_at > previous ? last.ends_at : previous, to: current };
}

/** A firm that is being removed. */
function unlessRemoved(error: unknown): null {
  if (error instanceof Fault && error.kind === 'not-found') return null;
  throw error;
}

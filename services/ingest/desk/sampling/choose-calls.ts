import { randomBytes } from 'node:crypto';
import { Failures, Fault } from '@call-analysis/fault';
import type { Sql } from '@call-analysis/postgres';
import type { Firms } from '@call-analysis/service/firms';
import type { Store } from '../../store/index.ts';
import { type Sample, type Sampling, sampling as samplingIn } from './sampling-store.ts';

interface Deps {
  readonly store: Pick<Store, 'db' | 'transaction' | 'words' | 'carryOver'>;
  readonly sampling: Sampling;
  readonly firms: Firms;
}

interface RuleId {
  readonly firmUuid: string;
  readonly ruleUuid: string;
}

/** A service that is stopping waits for this run. */
const RUN_MS = 3_000;
/** How long the words of the firm's calls may take to be indexed. */
const CATCH_UP_MS = 3_000;

/** A schedule that chooses calls when periods have ended. */
export function sampler({
  store,
  firms,
}: Pick<Deps, 'firms'> & { readonly store: Store }): (now: Date) => Promise<void> {
  const sampling = samplingIn(store.db, store.carryOver);
  return (now) => chooseCalls({ store, firms, sampling }, now);
}

/** Chooses calls by every rule of which a period has ended. */
export async function chooseCalls(deps: Deps, now: Date): Promise<void> {
  const deadline = Date.now() + RUN_MS;
  const failures = new Failures();
  for (const rule of await deps.sampling.enabled(now)) {
    if (Date.now() > deadline) break;
    await failures.attempt(() => chooseByRule(deps, rule, now));
  }
  failures.throwAll();
}

/**
 * Chooses calls of the periods of a rule that have ended and that it has not chosen of yet: since it was enabled, and of the last
 * period before. One sample a rule and period, however many processes do it; a process that is killed leaves nothing of one.
 */
export async function chooseByRule(
  { store, sampling, firms }: Deps,
  id: RuleId,
  now: Date,
  newSeed = () => randomBytes(16).toString('hex'),
): Promise<void> {
  // Sums and lists of calls that are not carried over yet are incomplete.
  if (!(await store.carryOver.isDone())) return;
  const timeZone = await firms.find(id.firmUuid).then((firm) => firm.timeZone, unlessRemoved);
  if (timeZone === null) return;
  const known = await sampling.find(store.db, id);
  const q = known?.meaning.q;
  if (q !== undefined && !(await store.words.catchUp(id.firmUuid, CATCH_UP_MS))) return;
  const words = q === undefined ? null : await store.words.parse(id.firmUuid, q);
  const choose = async (tx: Sql): Promise<boolean> => {
    const rule = await sampling.find(tx, id, 'FOR UPDATE SKIP LOCKED');
    // It was removed, disabled or changed, or another process chooses by it.
    if (rule === null || rule.enabledAt === null || rule.meaning.q !== q) return false;
    const [last = null] = await sampling.samples(tx, id, 1, 1);
    const boundaries = await sampling.boundaries(tx, rule.every, timeZone, now, last?.ends_at ?? null);
    const period = duePeriod(rule.enabledAt, last, boundaries);
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
  while (await store.transaction(choose));
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

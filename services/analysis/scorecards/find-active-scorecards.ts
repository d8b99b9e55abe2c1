import type { Firms } from '../firms.ts';
import type { Store } from '../store.ts';
import type { ScorecardCache } from './scorecard-cache.ts';
import type { CallKind } from './scorecard-store.ts';
import type { Scorecard } from './scorecard.ts';

/** The scorecard revision that is active for each call now, in order. Adds the default scorecard to a new firm. */
export async function findActiveScorecards(
  {
    store: { scorecards },
    scorecardCache,
    firms,
  }: { store: Pick<Store, 'scorecards'>; scorecardCache: ScorecardCache; firms: Pick<Firms, 'settings'> },
  calls: readonly CallKind[],
): Promise<Scorecard[]> {
  const kinds = [...new Map(calls.map((call) => [keyOf(call), call])).values()];
  let active = await scorecards.findActive(kinds);
  const newFirms = new Set(kinds.filter((_, index) => active[index] === null).map(({ firmUuid }) => firmUuid));
  if (newFirms.size > 0) {
    for (const firmUuid of newFirms) {
      await scorecards.ensureDefault(firmUuid, (await firms.settings(firmUuid)).language);
    }
    active = await scorecards.findActive(kinds);
  }
  const revisions = active.map((revision) => revision!);
  const found = await scorecardCache.get(revisions, (missing) => scorecards.findRevisions(missing));
  const byKind = new Map(kinds.map((kind, index) => [keyOf(kind), found[index]!]));
  return calls.map((call) => byKind.get(keyOf(call))!);
}

function keyOf({ firmUuid, segmentType }: CallKind): string {
  return `${firmUuid}/${segmentType}`;
}

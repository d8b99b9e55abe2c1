import type { Firms } from '@call-analysis/service/firms';
import type { ScorecardCache } from './scorecard-cache.ts';
import type { CallKind, RevisionId, ScorecardUse } from './scorecard-store.ts';
import type { Scorecard } from './scorecard.ts';

/** A call, with the scorecard that was asked for. */
type Kind = CallKind & { readonly scorecardUuid?: string | undefined };

/**
 * The scorecard revision of each call, in order: the newest of the scorecard that it names, else the active one. A scorecard
 * that is not the firm's counts as not named. Adds the default scorecard to a new firm.
 */
export async function findActiveScorecards(
  {
    store: { scorecards },
    scorecardCache,
    firms,
  }: { store: Pick<ScorecardUse, 'scorecards'>; scorecardCache: ScorecardCache; firms: Pick<Firms, 'settings'> },
  calls: readonly Kind[],
): Promise<Scorecard[]> {
  const kinds = [...new Map(calls.map((call) => [keyOf(call), call])).values()];
  let active = await scorecards.findActive(kinds);
  const newFirms = new Set(kinds.filter((_, index) => active[index] === null).map(({ firmUuid }) => firmUuid));
  if (newFirms.size > 0) {
    for (const firmUuid of newFirms) {
      await scorecards.ensureDefault(firmUuid, async () => (await firms.settings(firmUuid)).language);
    }
    active = await scorecards.findActive(kinds);
  }
  const named = await findNamed(scorecards, kinds);
  const revisions = active.map((revision, index) => named[index] ?? revision!);
  const found = await scorecardCache.get(revisions, (missing) => scorecards.findRevisions(missing));
  const byKind = new Map(kinds.map((kind, index) => [keyOf(kind), found[index]!]));
  return calls.map((call) => byKind.get(keyOf(call))!);
}

async function findNamed(
  scorecards: Pick<ScorecardUse['scorecards'], 'findNewest'>,
  kinds: readonly Kind[],
): Promise<(RevisionId | undefined)[]> {
  const wanted = kinds.flatMap(({ firmUuid, scorecardUuid: uuid }) => (uuid === undefined ? [] : [{ firmUuid, uuid }]));
  if (wanted.length === 0) return [];
  const found = await scorecards.findNewest(wanted);
  return kinds.map(({ firmUuid, scorecardUuid }) =>
    found.find((each) => each.firmUuid === firmUuid && each.uuid === scorecardUuid?.toLowerCase()),
  );
}

function keyOf({ firmUuid, segmentType, scorecardUuid = '' }: Kind): string {
  return `${firmUuid}/${scorecardUuid}/${segmentType}`;
}

import type { Bus } from '@call-analysis/bus';
import { isFirmRemoved } from '@call-analysis/call-processing';
import { notFound } from '@call-analysis/fault';
import { type Actor, auditEntry } from '@call-analysis/service';
import type { Firms } from '@call-analysis/service/firms';
import { v7 as uuidv7 } from 'uuid';
import type { ScorecardUse, StoredScorecard } from './scorecard-store.ts';
import { toScorecardBody } from './scorecard.ts';
import { validateScorecardDraft } from './validate-scorecard-draft.ts';

/** Stores a firm's new scorecard as its revision 1, not yet active. Faults: NOT_FOUND, VALIDATION_ERROR. */
export async function createScorecard(
  { store, firms, bus }: { store: ScorecardUse; firms: Firms; bus: Pick<Bus, 'publish'> },
  actor: Actor,
  document: string,
): Promise<StoredScorecard> {
  const { firmUuid, userUuid } = actor;
  const { segmentTypes } = await firms.find(firmUuid);
  const draft = validateScorecardDraft(document, { segmentTypes, segmentType: null, questionUuids: new Set() });
  // The default comes first: once another scorecard is active for all segment types, it could no longer be added.
  await store.scorecards.ensureDefault(firmUuid, async () => (await firms.settings(firmUuid)).language);
  const uuid = uuidv7();
  const segmentType = draft.segment_type ?? null;
  await store.db.transaction(async (tx) => {
    if (await isFirmRemoved(tx, firmUuid)) throw notFound('firm');
    await store.scorecards.add(
      { uuid, firmUuid, segmentType, createdBy: userUuid },
      toScorecardBody(draft, uuidv7),
      tx,
    );
    await bus.publish(tx, [auditEntry('analysis', actor, 'scorecard.created', uuid)]);
  });
  return store.scorecards.find(firmUuid, uuid);
}

import type { Bus } from '@call-analysis/bus';
import { isFirmRemoved } from '@call-analysis/call-processing';
import { Fault, notFound } from '@call-analysis/fault';
import { type Actor, auditEntry } from '@call-analysis/service';
import type { Firms } from '@call-analysis/service/firms';
import { v7 as uuidv7 } from 'uuid';
import { revisableUuids } from './default-scorecard.ts';
import type { RevisionId, ScorecardUse, StoredScorecard } from './scorecard-store.ts';
import { toScorecardBody } from './scorecard.ts';
import { validateScorecardDraft } from './validate-scorecard-draft.ts';

/**
 * Adds a revision to a scorecard. `revision` is the one that the change is based on and must still be the newest: of two
 * changes to the same revision, the later is refused. Calls that were scored keep their revision.
 * Faults: NOT_FOUND, REVISION_CONFLICT, VALIDATION_ERROR.
 */
export async function reviseScorecard(
  { store: { db, scorecards }, bus }: { store: ScorecardUse; bus: Pick<Bus, 'publish'> },
  actor: Actor,
  { uuid, revision }: RevisionId,
  document: string,
): Promise<StoredScorecard> {
  const { firmUuid, userUuid } = actor;
  return db.transaction(async (tx) => {
    const { segment_type: segmentType, ...newest } = await scorecards.lock(tx, firmUuid, uuid);
    if (newest.revision !== revision) {
      throw new Fault(
        'stale',
        'REVISION_CONFLICT',
        `Your change is based on revision ${revision}, but the scorecard is at revision ${newest.revision}. Get the scorecard again and repeat your change.`,
        { details: { revision: newest.revision } },
      );
    }
    const references = { segmentTypes: null, segmentType, questionUuids: revisableUuids(newest) };
    const body = toScorecardBody(validateScorecardDraft(document, references), uuidv7);
    await scorecards.addRevision(tx, { uuid, revision: revision + 1 }, body, userUuid);
    await bus.publish(tx, [auditEntry('analysis', actor, 'scorecard.revised', uuid)]);
    return scorecards.find(firmUuid, uuid, undefined, tx);
  });
}

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

import { v7 as uuidv7 } from 'uuid';
import type { Firms } from '../firms.ts';
import type { Store } from '../store.ts';
import type { StoredScorecard } from './scorecard-store.ts';
import { toScorecardBody } from './scorecard.ts';
import { validateScorecardDraft } from './validate-scorecard-draft.ts';

/** Stores a firm's new scorecard as its revision 1, not yet active. Faults: NOT_FOUND, VALIDATION_ERROR. */
export async function createScorecard(
  { store, firms }: { store: Store; firms: Firms },
  { firmUuid, userUuid }: { firmUuid: string; userUuid: string },
  document: string,
): Promise<StoredScorecard> {
  const segmentTypes = await firms.segmentTypes(firmUuid);
  const draft = validateScorecardDraft(document, { segmentTypes, segmentType: null, questionUuids: new Set() });
  // The default comes first: once another scorecard is active for all segment types, it could no longer be added.
  await store.scorecards.ensureDefault(firmUuid, (await firms.settings(firmUuid)).language);
  const uuid = uuidv7();
  const segmentType = draft.segment_type ?? null;
  await store.scorecards.add({ uuid, firmUuid, segmentType, createdBy: userUuid }, toScorecardBody(draft, uuidv7));
  return store.scorecards.find(firmUuid, uuid);
}

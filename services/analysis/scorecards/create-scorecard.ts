import { v7 as uuidv7 } from 'uuid';
import { ensureDefault } from '../ensure-default.ts';
import type { Firms } from '../firms.ts';
import type { Store } from '../store.ts';
import type { StoredScorecard } from './scorecard-store.ts';
import { numbered } from './scorecard.ts';
import { judgeDraft } from './validate-scorecard-draft.ts';

/** Keeps a firm's new scorecard as its revision 1, not yet in force. Fault: VALIDATION_ERROR. */
export async function createScorecard(
  { store, firms }: { store: Store; firms: Pick<Firms, 'segmentTypes'> },
  by: { firmUuid: string; userUuid: string },
  document: string,
): Promise<StoredScorecard> {
  const { firmUuid } = by;
  const segmentTypes = await firms.segmentTypes(firmUuid);
  const draft = judgeDraft(document, { segmentTypes, segmentType: null, questionUuids: new Set() });
  await ensureDefault(store, firmUuid);
  const uuid = uuidv7();
  const segmentType = draft.segment_type ?? null;
  await store.scorecards.add({ uuid, firmUuid, segmentType, by: by.userUuid }, numbered(draft, uuidv7));
  return store.scorecards.find(firmUuid, uuid);
}

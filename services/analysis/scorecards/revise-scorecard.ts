import { Fault } from '@call-analysis/fault';
import { v7 as uuidv7 } from 'uuid';
import type { Store } from '../store.ts';
import type { RevisionName, StoredScorecard } from './scorecard-store.ts';
import { numbered, questionUuids } from './scorecard.ts';
import { judgeDraft } from './validate-scorecard-draft.ts';

/**
 * Makes a new revision of a scorecard out of a change to `revision`, which must still be the newest: of two changes to
 * the same one, the later is refused. Calls that were scored keep theirs. Faults: NOT_FOUND, REVISION_CONFLICT,
 * VALIDATION_ERROR.
 */
export async function reviseScorecard(
  { store: { db, scorecards } }: { store: Store },
  by: { firmUuid: string; userUuid: string },
  { uuid, revision }: RevisionName,
  document: string,
): Promise<StoredScorecard> {
  return db.transaction(async (tx) => {
    const { segmentType, ...newest } = await scorecards.hold(tx, by.firmUuid, uuid);
    if (newest.revision !== revision) {
      throw new Fault(
        'stale',
        'REVISION_CONFLICT',
        `The scorecard is at revision ${newest.revision}, and your change was made to ${revision}. Get it anew and make your change to that.`,
        { details: { revision: newest.revision } },
      );
    }
    const references = { segmentTypes: null, segmentType, questionUuids: questionUuids(newest) };
    const body = numbered(judgeDraft(document, references), uuidv7);
    await scorecards.addRevision(tx, { uuid, revision: revision + 1 }, body, by.userUuid);
    return scorecards.find(by.firmUuid, uuid, undefined, tx);
  });
}

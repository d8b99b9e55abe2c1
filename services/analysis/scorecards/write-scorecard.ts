import type { Bus } from '@call-analysis/bus';
import { isFirmRemoved } from '@call-analysis/call-processing';
import { Fault, notFound } from '@call-analysis/fault';
import type { Sql } from '@call-analysis/postgres';
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
    if (newest.revision !== revision) throw await revisionConflict(scorecards, tx, firmUuid, newest, revision);
    const references = { segmentTypes: null, segmentType, questionUuids: revisableUuids(newest) };
    const body = toScorecardBody(validateScorecardDraft(document, references), uuidv7);
    await scorecards.addRevision(tx, { uuid, revision: revision + 1 }, body, userUuid);
    await bus.publish(tx, [auditEntry('analysis', actor, 'scorecard.revised', uuid)]);
    return scorecards.find(firmUuid, uuid, undefined, tx);
  });
}

async function revisionConflict(
  scorecards: ScorecardUse['scorecards'],
  tx: Sql,
  firmUuid: string,
  newest: Pick<StoredScorecard, 'uuid' | 'revision' | 'sections'>,
  revision: number,
): Promise<Fault> {
  const { items } = await scorecards.listRevisions(firmUuid, newest.uuid, { page: 1, size: 1 }, tx);
  const [{ created_by: by, created_at: at }] = items as [(typeof items)[number]];
  const changed = revision < newest.revision ? await scorecards.find(firmUuid, newest.uuid, revision, tx) : newest;
  return new Fault(
    'stale',
    'REVISION_CONFLICT',
    `Your change is based on revision ${revision}, but the scorecard is at revision ${newest.revision}. Get the scorecard again and repeat your change.`,
    { details: { revision: newest.revision, by, at: at.toISOString(), questions: changedQuestions(changed, newest) } },
  );
}

type Sections = Pick<StoredScorecard, 'sections'>;

/** The questions that differ between two revisions, in the newer one's order, the removed ones last. */
function changedQuestions(older: Sections, newer: Sections): { uuid: string; text: string; change: string }[] {
  const before = questionsOf(older);
  const after = questionsOf(newer);
  return [
    ...[...after].flatMap(([uuid, { text, json }]) => {
      const former = before.get(uuid);
      if (former?.json === json) return [];
      return [{ uuid, text, change: former === undefined ? 'added' : 'changed' }];
    }),
    ...[...before].flatMap(([uuid, { text }]) => (after.has(uuid) ? [] : [{ uuid, text, change: 'removed' }])),
  ];
}

function questionsOf({ sections }: Sections): Map<string, { text: string; json: string }> {
  const questions = sections.flatMap((section) =>
    section.questions.map((each) => ({ section: section.name, ...each })),
  );
  return new Map(questions.map((each) => [each.uuid, { text: each.text, json: JSON.stringify(each) }]));
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

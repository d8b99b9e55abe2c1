import type { Database, Sql, Transaction } from '@call-analysis/postgres';
import { UNFINISHED } from '../../calls/call-status.ts';
import type { AnalysisBodies } from '../../results/analysis-body-store.ts';
import { type AnalysisFacts, factsOf } from '../../results/analysis-facts.ts';
import type { RecentFacts } from '../../results/recent-facts.ts';
import {
  changeFacetCounts,
  dayValue,
  type FacetKey,
  FacetKeys,
  type FacetKind,
  foldFacets,
  labelFacets,
  NO_SCORE,
  pairValue,
  scoreValue,
} from '../facets.ts';
import { factColumns, FACT_COLUMNS, type FactRow, factsIn, phoneTagOf, pointsOf, writePoints } from './entry-facts.ts';
import { lockIndex, tryToLockIndex } from './index-lock.ts';
import {
  nextRange,
  type PendingCall,
  shortenRange,
  takeBackfill,
  takeChanges,
  takeNewEntries,
} from './pending-changes.ts';

/** The source of an entry. */
interface IndexedCall {
  readonly firm_uuid: string;
  readonly uuid: string;
  readonly source: string;
  readonly status: string;
  readonly outcome: string | null;
  readonly operator_name: string;
  readonly operator_group_name: string | null;
  readonly direction: string | null;
  readonly segment_type: string;
  readonly start_time: Date;
  readonly language: string | null;
  readonly score: number | null;
  readonly batch_uuid: string | null;
  readonly campaign_uuid: string | null;
  readonly operator_id: string | null;
  readonly client_phone_number: string;
  readonly duration: number | null;
  readonly is_reviewed: boolean;
}

interface CatalogueCall extends IndexedCall {
  /** The current analysis, with its review; null where there is none or it is known. */
  readonly body: Buffer | null;
  /** Whether the current analysis is the known one, without a review. */
  readonly is_known: boolean;
  readonly has_text: boolean;
  readonly text_language: string | null;
  readonly is_text_indexed: boolean;
}

/** How the analyses of calls are read. */
export interface StoredAnalyses {
  readonly recentFacts: RecentFacts;
  readonly bodies: AnalysisBodies;
}

/** A row of `call_search`. */
interface Entry {
  readonly firm: number;
  readonly uuid: string;
  readonly startTime: Date;
  readonly score: number;
  /** Facet ids in the order of `FACET_COLUMNS`. */
  readonly facets: readonly (number | null)[];
  readonly facts: FactRow;
}

const FACET_COLUMNS = ['state', 'origin', 'segment', 'operator', 'team', 'campaign', 'batch', 'day', 'mark'];

/**
 * Indexes the calls of the next pending changes, of one firm or of all, and returns how many there were. Returns 0 when
 * none is pending, or while another process indexes. The changes leave the queue in the same transaction, so a crash
 * repeats them.
 */
export async function indexEntries(db: Database, analyses: StoredAnalyses, firmUuid: string | null): Promise<number> {
  return db.transaction(async (tx) => {
    if (!(await tryToLockIndex(tx))) return 0;
    const added = await addNewEntries(tx, analyses, firmUuid);
    const changed = await takeChanges(tx, firmUuid, added < NEW_CALLS_PER_TRANSACTION ? CHANGES : CHANGES_BESIDE_NEW);
    if (changed.length > 0) await updateEntries(tx, analyses, changed);
    return added + changed.length;
  });
}

/**
 * Adds entries for the next calls of a range of new ones, and returns how many calls there were. A call that has not
 * changed since it was accepted gets an entry in the table that costs little to write.
 */
async function addNewEntries(tx: Transaction, analyses: StoredAnalyses, firmUuid: string | null): Promise<number> {
  const range = await nextRange(tx, firmUuid);
  if (range === null) return 0;
  const found = await tx.query<IndexedCall & { attempt: number }>(
    `SELECT firm_uuid, uuid, source, status, outcome, operator_name, operator_group_name, direction, segment_type, start_time,
       language, score, batch_uuid, campaign_uuid, operator_id, client_phone_number, duration, attempt,
       false AS is_reviewed
     FROM call WHERE firm_uuid = $1 AND uuid BETWEEN $2 AND $3 ORDER BY uuid LIMIT ${NEW_CALLS_PER_TRANSACTION + 1}`,
    [range.firm_uuid, range.first, range.last],
  );
  const calls = found.slice(0, NEW_CALLS_PER_TRANSACTION);
  await shortenRange(tx, range, calls.length, found[NEW_CALLS_PER_TRANSACTION]?.uuid ?? null);
  const indexed = await tx.query<{ uuid: string }>(
    `SELECT call_search.uuid FROM call_search JOIN facet ON facet.id = call_search.firm
     WHERE facet.firm_uuid = $1 AND facet.kind = 'all' AND facet.value = '' AND call_search.uuid BETWEEN $2 AND $3`,
    [range.firm_uuid, range.first, calls.at(-1)?.uuid ?? range.first],
  );
  const known = new Set(indexed.map(({ uuid }) => uuid));
  const isUnchanged = ({ status, attempt }: (typeof found)[number]) => status === 'queued' && attempt === 1;
  // Those that are indexed already have changed since.
  const missing = calls.filter(({ uuid }) => !known.has(uuid));
  const entries = await entriesOf(
    tx,
    missing.filter(isUnchanged).map((call) => ({ call, facts: null })),
  );
  await writeNewEntries(tx, entries);
  const counts = new FacetCounts();
  counts.add(entries);
  await changeFacetCounts(tx, counts.changes);
  const others = missing.filter((call) => !isUnchanged(call));
  if (others.length > 0)
    await updateEntries(
      tx,
      analyses,
      others.map(({ firm_uuid, uuid }) => ({ firmUuid: firm_uuid, uuid, hasNewWords: true })),
    );
  return calls.length;
}

/**
 * Moves new entries that do not change to the table whose indexes serve every filter, of one firm or of all, and queues
 * their documents. With `before`, only entries of calls with a lower uuid. Returns how many there were.
 */
export async function settleEntries(
  db: Database,
  analyses: StoredAnalyses,
  firmUuid: string | null,
  before: string | null,
): Promise<number> {
  return db.transaction(async (tx) => {
    if (!(await tryToLockIndex(tx))) return 0;
    const pending = await takeNewEntries(tx, firmUuid, before);
    if (pending.length > 0) await updateEntries(tx, analyses, pending);
    return pending.length;
  });
}

/** The most new calls of one transaction: more than of changed calls, because they cost less. */
const NEW_CALLS_PER_TRANSACTION = 4_000;
/** The most changes of one transaction, alone and while many calls are new. */
const CHANGES = 2_000;
const CHANGES_BESIDE_NEW = 500;
/** If this many were taken, more are pending. */
export const FULL_TRANSACTION = 2_000;

/** By how much the counts of facets change, by id. */
class FacetCounts {
  readonly changes = new Map<number, number>();

  count(facets: readonly (number | null)[], by: number): void {
    for (const id of facets) if (id !== null) this.changes.set(id, (this.changes.get(id) ?? 0) + by);
  }

  add(entries: readonly Entry[]): void {
    for (const { firm, facets, facts } of entries) this.count([firm, ...facets, ...facetsIn(facts.tags)], 1);
  }
}

/**
 * Indexes calls whose entries lack the columns of this release, while nothing else is pending. Returns how many there
 * were.
 */
export async function backfillEntries(db: Database, analyses: StoredAnalyses): Promise<number> {
  return db.transaction(async (tx) => {
    if (!(await tryToLockIndex(tx))) return 0;
    const folded = await foldFacets(tx, NAMES_PER_TRANSACTION);
    const pending = await takeBackfill(tx);
    if (pending.length > 0) await updateEntries(tx, analyses, pending);
    return folded + pending.length;
  });
}

const NAMES_PER_TRANSACTION = 2_000;

async function updateEntries(
  tx: Transaction,
  analyses: StoredAnalyses,
  pending: readonly PendingCall[],
): Promise<void> {
  const withNewWords = new Set(pending.flatMap(({ uuid, hasNewWords }) => (hasNewWords ? [uuid] : [])));
  const distinct = [...new Map(pending.map((each) => [`${each.firmUuid} ${each.uuid}`, each])).values()];
  const keys = [distinct.map((each) => each.firmUuid), distinct.map((each) => each.uuid)];
  const known = new Map(distinct.map(({ uuid }) => [uuid, analyses.recentFacts.take(uuid)]));
  const calls = await tx.query<CatalogueCall>(
    `SELECT call.firm_uuid, call.uuid, source, status, outcome, operator_name, operator_group_name, direction, segment_type,
       start_time, call.language, score, batch_uuid, campaign_uuid, operator_id, client_phone_number, duration,
       reviewed_at IS NOT NULL AS is_reviewed,
       CASE WHEN outcome IS DISTINCT FROM 'no_speech' AND is_known IS NOT TRUE THEN coalesce(review.body, latest.body) END AS body,
       coalesce(outcome IS DISTINCT FROM 'no_speech' AND is_known, false) AS is_known,
       tagged_text IS NOT NULL OR transcript.call_uuid IS NOT NULL AS has_text,
       call_text.language AS text_language, call_text.uuid IS NOT NULL AS is_text_indexed
     FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS named (firm_uuid, uuid, analysis_uuid)
       JOIN call ON call.firm_uuid = named.firm_uuid AND call.uuid = named.uuid
       LEFT JOIN facet ON facet.firm_uuid = call.firm_uuid AND facet.kind = 'all' AND facet.value = ''
       LEFT JOIN call_text ON call_text.firm = facet.id AND call_text.uuid = call.uuid
       LEFT JOIN transcript ON transcript.firm_uuid = call.firm_uuid AND transcript.call_uuid = call.uuid
       LEFT JOIN LATERAL (
         SELECT analysis.uuid, analysis.body FROM analysis
         WHERE analysis.call_uuid = call.uuid AND analysis.firm_uuid = call.firm_uuid
         ORDER BY analysis.created_at DESC, analysis.uuid DESC LIMIT 1) AS latest ON true
       LEFT JOIN review ON review.firm_uuid = call.firm_uuid AND review.call_uuid = call.uuid AND review.analysis_uuid = latest.uuid
       CROSS JOIN LATERAL (SELECT latest.uuid = named.analysis_uuid AND review.call_uuid IS NULL AS is_known) AS compared`,
    [...keys, distinct.map(({ uuid }) => known.get(uuid)?.uuid ?? null)],
  );
  const former = await tx.query<Record<string, number | null> & { uuid: string; tags: number[] | null }>(
    `SELECT firm, call_search.uuid, ${FACET_COLUMNS.join(', ')}, tags::float8[] AS tags
     FROM unnest($1::uuid[], $2::uuid[]) AS named (firm_uuid, uuid)
       JOIN facet ON facet.firm_uuid = named.firm_uuid AND facet.kind = 'all' AND facet.value = ''
       JOIN call_search ON call_search.firm = facet.id AND call_search.uuid = named.uuid`,
    keys,
  );
  const stored = calls.flatMap((call) => (call.body === null ? [] : [{ call, body: call.body }]));
  const unpacked = await analyses.bodies.unpack(
    tx,
    stored.map(({ body }) => body),
  );
  const read = new Map(stored.map(({ call }, at) => [call, factsOf(unpacked[at])]));
  const entries = await entriesOf(
    tx,
    calls.map((call) => ({ call, facts: call.is_known ? known.get(call.uuid)!.facts : (read.get(call) ?? null) })),
  );
  const counts = new FacetCounts();
  for (const row of former)
    counts.count([row['firm']!, ...FACET_COLUMNS.map((column) => row[column] ?? null), ...facetsIn(row.tags)], -1);
  counts.add(entries);

  await writeEntries(tx, entries);
  const present = new Set(entries.map(({ firm, uuid }) => `${firm} ${uuid}`));
  const deleted = former.filter(({ firm, uuid }) => !present.has(`${firm} ${uuid}`));
  for (const { firm, uuid } of deleted) {
    counts.count([await removeDocument(tx, firm!, uuid)], -1);
    await tx.query('DELETE FROM call_search WHERE firm = $1 AND uuid = $2', [firm, uuid]);
    await tx.query('DELETE FROM call_points WHERE firm = $1 AND uuid = $2', [firm, uuid]);
  }
  await changeFacetCounts(tx, counts.changes);
  await queueDocuments(
    tx,
    calls.filter(
      (call) =>
        call.has_text && (!call.is_text_indexed || call.text_language !== call.language || withNewWords.has(call.uuid)),
    ),
  );
}

async function entriesOf(
  tx: Sql,
  calls: readonly { readonly call: IndexedCall; readonly facts: AnalysisFacts | null }[],
): Promise<Entry[]> {
  const keys = new FacetKeys();
  const withFacets = calls.map(({ call, facts }) => ({
    call,
    all: keys.of(call.firm_uuid, 'all', ''),
    facets: facetsOf(call, keys),
    facts: factsIn(call, facts, keys),
  }));
  const ids = await keys.ids(tx);
  const idOf = (key: FacetKey) => ids.get(key)!;
  const labels = new Map<FacetKey, string>();
  for (const { facts } of withFacets) for (const { key, label } of facts.labels) labels.set(key, label);
  await labelFacets(tx, new Map([...labels].map(([key, label]) => [idOf(key), label])));
  await writePoints(
    tx,
    withFacets.flatMap(({ call, all, facts }) => pointsOf(idOf(all), call.uuid, facts, idOf)),
  );
  return withFacets.map(({ call, all, facets, facts }) => ({
    firm: idOf(all),
    uuid: call.uuid,
    startTime: call.start_time,
    score: tenthsOf(call.score),
    facets: facets.map((facet) => (facet === null ? null : idOf(facet))),
    facts: factColumns(facts, phoneTagOf(call), idOf),
  }));
}

/** The facets among the tags. The others are phone numbers. */
function facetsIn(tags: readonly number[] | null): number[] {
  return (tags ?? []).filter((tag) => tag > 0);
}

/** In the order of `FACET_COLUMNS`. */
function facetsOf(call: IndexedCall, keys: FacetKeys): (FacetKey | null)[] {
  const facet = (kind: FacetKind, value: string) => keys.of(call.firm_uuid, kind, value);
  return [
    facet('state', pairValue(call.status, call.outcome)),
    facet('origin', pairValue(call.source, call.direction)),
    facet('segment', call.segment_type),
    facet('operator', call.operator_name),
    call.operator_group_name === null ? null : facet('team', call.operator_group_name),
    call.campaign_uuid === null ? null : facet('campaign', call.campaign_uuid),
    call.batch_uuid === null ? null : facet('batch', call.batch_uuid),
    facet('day', dayValue(call.start_time)),
    facet('mark', scoreValue(tenthsOf(call.score))),
  ];
}

function tenthsOf(score: number | null): number {
  return score === null ? NO_SCORE : Math.round(score * 10);
}

const COLUMNS = ['start_time', 'score', ...FACET_COLUMNS, ...FACT_COLUMNS.map(({ name }) => name)];

async function writeEntries(tx: Sql, entries: readonly Entry[]): Promise<void> {
  const isSame = `(${COLUMNS.map((name) => `call_search.${name}`).join(', ')}) IS NOT DISTINCT FROM (${COLUMNS.map((name) => `excluded.${name}`).join(', ')})`;
  const changed = `ON CONFLICT (firm, uuid) DO UPDATE SET ${COLUMNS.map((name) => `${name} = excluded.${name}`).join(', ')} WHERE NOT (${isSame})`;
  await insertEntries(tx, 'call_search', entries, changed);
}

/** The calls must have no entry yet. */
async function writeNewEntries(tx: Sql, entries: readonly Entry[]): Promise<void> {
  await insertEntries(tx, 'call_search_new', entries, '');
}

async function insertEntries(tx: Sql, table: string, entries: readonly Entry[], onConflict: string): Promise<void> {
  if (entries.length === 0) return;
  const placeholder = (index: number) => `$${index + 5 + FACET_COLUMNS.length}`;
  await tx.query(
    `INSERT INTO ${table} (firm, uuid, ${COLUMNS.join(', ')})
     SELECT firm, uuid, start_time, score, ${FACET_COLUMNS.join(', ')}, ${FACT_COLUMNS.map(({ name, type }) => `${name}::${type}`).join(', ')}
     FROM unnest($1::int[], $2::uuid[], $3::timestamptz[], $4::int[], ${FACET_COLUMNS.map((_, index) => `$${index + 5}::int[]`).join(', ')},
       ${FACT_COLUMNS.map((_, index) => `${placeholder(index)}::text[]`).join(', ')})
       AS entry (firm, uuid, ${COLUMNS.join(', ')})
     ${onConflict}`,
    [
      entries.map(({ firm }) => firm),
      entries.map(({ uuid }) => uuid),
      entries.map(({ startTime }) => startTime),
      entries.map(({ score }) => score),
      ...FACET_COLUMNS.map((_, index) => entries.map(({ facets }) => facets[index] ?? null)),
      ...FACT_COLUMNS.map(({ read }) => entries.map(({ facts }) => read(facts))),
    ],
  );
}

/**
 * Queues documents for indexing. One is `ripe` once its language is known or cannot become known any more: a document
 * that is indexed before its language would have to be indexed again.
 */
async function queueDocuments(tx: Sql, calls: readonly CatalogueCall[]): Promise<void> {
  if (calls.length === 0) return;
  await tx.query(
    `INSERT INTO text_change (firm_uuid, uuid, ripe) SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::boolean[])
     ON CONFLICT (firm_uuid, uuid) DO UPDATE SET ripe = excluded.ripe`,
    [
      calls.map(({ firm_uuid }) => firm_uuid),
      calls.map(({ uuid }) => uuid),
      calls.map(({ language, status }) => language !== null || !UNFINISHED.includes(status)),
    ],
  );
}

/** Returns the block of the document; null when the call had none. */
async function removeDocument(tx: Sql, firm: number, uuid: string): Promise<number | null> {
  const rows = await tx.query<{ shelf: number }>(
    'DELETE FROM call_text WHERE firm = $1 AND uuid = $2 RETURNING shelf',
    [firm, uuid],
  );
  return rows[0]?.shelf ?? null;
}

/**
 * Removes a call from the index and its queues, in the transaction that deletes the call. Waits for the transaction
 * that is indexing. Returns the number of deleted rows.
 */
export async function removeCall(tx: Sql, firmUuid: string, callUuid: string): Promise<number> {
  await lockIndex(tx);
  const changes = await tx.query(
    'DELETE FROM call_change WHERE firm_uuid = $1 AND first = $2 AND last = $2 RETURNING 1',
    [firmUuid, callUuid],
  );
  const documents = await tx.query('DELETE FROM text_change WHERE firm_uuid = $1 AND uuid = $2 RETURNING 1', [
    firmUuid,
    callUuid,
  ]);
  const points = await tx.query(
    `DELETE FROM call_points USING facet
     WHERE facet.firm_uuid = $1 AND facet.kind = 'all' AND facet.value = '' AND call_points.firm = facet.id AND call_points.uuid = $2
     RETURNING 1`,
    [firmUuid, callUuid],
  );
  const [entry] = await tx.query<Record<string, number | null> & { tags: number[] | null }>(
    `DELETE FROM call_search USING facet
     WHERE facet.firm_uuid = $1 AND facet.kind = 'all' AND facet.value = '' AND call_search.firm = facet.id AND call_search.uuid = $2
     RETURNING firm, ${FACET_COLUMNS.join(', ')}, tags::float8[] AS tags`,
    [firmUuid, callUuid],
  );
  const others = changes.length + documents.length + points.length;
  if (entry === undefined) return others;
  const block = await removeDocument(tx, entry['firm']!, callUuid);
  const facets = [
    entry['firm']!,
    block,
    ...FACET_COLUMNS.map((column) => entry[column] ?? null),
    ...facetsIn(entry.tags),
  ];
  await changeFacetCounts(tx, new Map(facets.flatMap((id) => (id === null ? [] : [[id, -1] as const]))));
  return others + 1 + (block === null ? 0 : 1);
}

import type { Database, Sql, Transaction } from '@call-analysis/postgres';
import { UNFINISHED } from '../../calls/call-status.ts';
import { countFacets, dayOf, facetIds, keyOf, markOf, type NamedFacet, pair, UNSCORED } from '../facets.ts';
import { lockIndex, tryToLockIndex } from './index-lock.ts';

/** Changed calls, and calls of a range, that one portion takes at most. */
const PORTION = 2_000;

interface Change {
  readonly position: number;
  readonly firm_uuid: string;
  readonly first: string;
  readonly last: string;
  readonly calls: number;
  readonly said: boolean;
}

interface Named {
  readonly firmUuid: string;
  readonly uuid: string;
  readonly said: boolean;
}

interface Found {
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
  readonly has_text: boolean;
  readonly text_language: string | null;
  readonly is_text_indexed: boolean;
}

/** As it stands in the table, in the order of its columns behind the uuid. */
interface Entry {
  readonly firm: number;
  readonly uuid: string;
  readonly startTime: Date;
  readonly score: number;
  readonly facets: readonly (number | null)[];
}

const FACET_COLUMNS = ['state', 'origin', 'segment', 'operator', 'team', 'campaign', 'batch', 'day', 'mark'];

/**
 * Takes the next changes into the index, of one firm or of all, and returns how many calls that were; 0 when nothing
 * waits, or when somebody else is indexing. Single changes and the calls of one batch have equal shares, so that neither
 * waits for the other. What is taken leaves the queue in the same transaction, so a crash repeats it.
 */
export async function indexPortion(db: Database, firmUuid: string | null): Promise<number> {
  return db.transaction(async (tx) => {
    if (!(await tryToLockIndex(tx))) return 0;
    const named = [...(await takeSingles(tx, firmUuid)), ...(await takeOfRange(tx, firmUuid))];
    if (named.length > 0) await index(tx, named);
    return named.length;
  });
}

async function takeSingles(tx: Sql, firmUuid: string | null): Promise<Named[]> {
  const changes = await tx.query<Change>(
    // As a list, so that a long queue is not read through for them.
    `DELETE FROM call_change WHERE position = ANY (ARRAY(
       SELECT position FROM call_change WHERE first = last AND ($1::uuid IS NULL OR firm_uuid = $1) ORDER BY position LIMIT ${PORTION}))
     RETURNING *`,
    [firmUuid],
  );
  return changes.map(({ firm_uuid, first, said }) => ({ firmUuid: firm_uuid, uuid: first, said }));
}

async function takeOfRange(tx: Sql, firmUuid: string | null): Promise<Named[]> {
  const [range] = await tx.query<Change>(
    `SELECT * FROM call_change WHERE first < last AND ($1::uuid IS NULL OR firm_uuid = $1) ORDER BY taken, position LIMIT 1`,
    [firmUuid],
  );
  if (range === undefined) return [];
  const calls = await tx.query<{ uuid: string }>(
    'SELECT uuid FROM call WHERE firm_uuid = $1 AND uuid BETWEEN $2 AND $3 ORDER BY uuid LIMIT $4',
    [range.firm_uuid, range.first, range.last, PORTION + 1],
  );
  const next = calls[PORTION];
  if (next === undefined) {
    await tx.query('DELETE FROM call_change WHERE position = $1', [range.position]);
  } else {
    await tx.query(
      'UPDATE call_change SET first = $2, calls = greatest(0, calls - $3), taken = taken + 1 WHERE position = $1',
      [range.position, next.uuid, PORTION],
    );
  }
  return calls.slice(0, PORTION).map(({ uuid }) => ({ firmUuid: range.firm_uuid, uuid, said: true }));
}

async function index(tx: Transaction, named: readonly Named[]): Promise<void> {
  const saidAnew = new Set(named.flatMap(({ uuid, said }) => (said ? [uuid] : [])));
  const distinct = [...new Map(named.map((each) => [`${each.firmUuid} ${each.uuid}`, each])).values()];
  const keys = [distinct.map((each) => each.firmUuid), distinct.map((each) => each.uuid)];
  const found = await tx.query<Found>(
    `SELECT call.firm_uuid, call.uuid, source, status, outcome, operator_name, operator_group_name, direction, segment_type,
       start_time, call.language, score, batch_uuid, campaign_uuid,
       tagged_text IS NOT NULL OR transcript.call_uuid IS NOT NULL AS has_text,
       call_text.language AS text_language, call_text.uuid IS NOT NULL AS is_text_indexed
     FROM unnest($1::uuid[], $2::uuid[]) AS named (firm_uuid, uuid)
       JOIN call ON call.firm_uuid = named.firm_uuid AND call.uuid = named.uuid
       LEFT JOIN facet ON facet.firm_uuid = call.firm_uuid AND facet.kind = 'all' AND facet.value = ''
       LEFT JOIN call_text ON call_text.firm = facet.id AND call_text.uuid = call.uuid
       LEFT JOIN transcript ON transcript.firm_uuid = call.firm_uuid AND transcript.call_uuid = call.uuid`,
    keys,
  );
  const former = await tx.query<Record<string, number | null> & { uuid: string }>(
    `SELECT firm, call_search.uuid, ${FACET_COLUMNS.join(', ')}
     FROM unnest($1::uuid[], $2::uuid[]) AS named (firm_uuid, uuid)
       JOIN facet ON facet.firm_uuid = named.firm_uuid AND facet.kind = 'all' AND facet.value = ''
       JOIN call_search ON call_search.firm = facet.id AND call_search.uuid = named.uuid`,
    keys,
  );
  const entries = await described(tx, found);
  const tally = new Map<number, number>();
  const count = (facets: readonly (number | null)[], by: number) => {
    for (const id of facets) if (id !== null) tally.set(id, (tally.get(id) ?? 0) + by);
  };
  for (const row of former) count([row['firm']!, ...FACET_COLUMNS.map((column) => row[column] ?? null)], -1);
  for (const { firm, facets } of entries) count([firm, ...facets], 1);

  await put(tx, entries);
  const there = new Set(entries.map(({ firm, uuid }) => `${firm} ${uuid}`));
  const gone = former.filter(({ firm, uuid }) => !there.has(`${firm} ${uuid}`));
  for (const { firm, uuid } of gone) {
    count([await removeText(tx, firm!, uuid)], -1);
    await tx.query('DELETE FROM call_search WHERE firm = $1 AND uuid = $2', [firm, uuid]);
  }
  await countFacets(tx, tally);
  await noteTexts(
    tx,
    found.filter(
      (call) =>
        call.has_text && (!call.is_text_indexed || call.text_language !== call.language || saidAnew.has(call.uuid)),
    ),
  );
}

async function described(tx: Sql, found: readonly Found[]): Promise<Entry[]> {
  const named = found.map((call) => ({ call, facets: facetsOf(call) }));
  const all = ({ firm_uuid }: Found): NamedFacet => ({ firmUuid: firm_uuid, kind: 'all', value: '' });
  const ids = await facetIds(
    tx,
    named.flatMap(({ call, facets }) => [all(call), ...facets.filter((facet) => facet !== null)]),
  );
  return named.map(({ call, facets }) => ({
    firm: ids.get(keyOf(all(call)))!,
    uuid: call.uuid,
    startTime: call.start_time,
    score: tenthsOf(call.score),
    facets: facets.map((facet) => (facet === null ? null : ids.get(keyOf(facet))!)),
  }));
}

/** In the order of `FACET_COLUMNS`. */
function facetsOf(call: Found): (NamedFacet | null)[] {
  const { firm_uuid: firmUuid } = call;
  return [
    { firmUuid, kind: 'state', value: pair(call.status, call.outcome) },
    { firmUuid, kind: 'origin', value: pair(call.source, call.direction) },
    { firmUuid, kind: 'segment', value: call.segment_type },
    { firmUuid, kind: 'operator', value: call.operator_name },
    call.operator_group_name === null ? null : { firmUuid, kind: 'team', value: call.operator_group_name },
    call.campaign_uuid === null ? null : { firmUuid, kind: 'campaign', value: call.campaign_uuid },
    call.batch_uuid === null ? null : { firmUuid, kind: 'batch', value: call.batch_uuid },
    { firmUuid, kind: 'day', value: dayOf(call.start_time) },
    { firmUuid, kind: 'mark', value: markOf(tenthsOf(call.score)) },
  ];
}

function tenthsOf(score: number | null): number {
  return score === null ? UNSCORED : Math.round(score * 10);
}

async function put(tx: Sql, entries: readonly Entry[]): Promise<void> {
  if (entries.length === 0) return;
  const columns = ['start_time', 'score', ...FACET_COLUMNS];
  const isSame = `(${columns.map((name) => `call_search.${name}`).join(', ')}) IS NOT DISTINCT FROM (${columns.map((name) => `excluded.${name}`).join(', ')})`;
  await tx.query(
    `INSERT INTO call_search (firm, uuid, ${columns.join(', ')})
     SELECT * FROM unnest($1::int[], $2::uuid[], $3::timestamptz[], $4::int[], ${FACET_COLUMNS.map((_, index) => `$${index + 5}::int[]`).join(', ')})
     ON CONFLICT (firm, uuid) DO UPDATE SET ${columns.map((name) => `${name} = excluded.${name}`).join(', ')} WHERE NOT (${isSame})`,
    [
      entries.map(({ firm }) => firm),
      entries.map(({ uuid }) => uuid),
      entries.map(({ startTime }) => startTime),
      entries.map(({ score }) => score),
      ...FACET_COLUMNS.map((_, index) => entries.map(({ facets }) => facets[index] ?? null)),
    ],
  );
}

async function noteTexts(tx: Sql, calls: readonly Found[]): Promise<void> {
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

/** The shelf that its words stood on; null when they had not been indexed. */
async function removeText(tx: Sql, firm: number, uuid: string): Promise<number | null> {
  const rows = await tx.query<{ shelf: number }>(
    'DELETE FROM call_text WHERE firm = $1 AND uuid = $2 RETURNING shelf',
    [firm, uuid],
  );
  return rows[0]?.shelf ?? null;
}

/**
 * Takes a call out of the index, in the transaction that deletes it, and returns how many rows went. It waits for the
 * portion that is being indexed.
 */
export async function forget(tx: Sql, firmUuid: string, callUuid: string): Promise<number> {
  await lockIndex(tx);
  const waiting = await tx.query(
    'DELETE FROM call_change WHERE firm_uuid = $1 AND first = $2 AND last = $2 RETURNING 1',
    [firmUuid, callUuid],
  );
  const texts = await tx.query('DELETE FROM text_change WHERE firm_uuid = $1 AND uuid = $2 RETURNING 1', [
    firmUuid,
    callUuid,
  ]);
  const [entry] = await tx.query<Record<string, number | null>>(
    `DELETE FROM call_search USING facet
     WHERE facet.firm_uuid = $1 AND facet.kind = 'all' AND facet.value = '' AND call_search.firm = facet.id AND call_search.uuid = $2
     RETURNING firm, ${FACET_COLUMNS.join(', ')}`,
    [firmUuid, callUuid],
  );
  if (entry === undefined) return waiting.length + texts.length;
  const shelf = await removeText(tx, entry['firm']!, callUuid);
  const facets = [entry['firm']!, shelf, ...FACET_COLUMNS.map((column) => entry[column] ?? null)];
  await countFacets(tx, new Map(facets.flatMap((id) => (id === null ? [] : [[id, -1] as const]))));
  return waiting.length + texts.length + 1 + (shelf === null ? 0 : 1);
}

/** The calls of a batch, or one that came by itself, are to be indexed. Said in the transaction that adds them. */
export async function noteNewCalls(
  tx: Sql,
  firmUuid: string,
  first: string,
  last: string,
  calls: number,
): Promise<void> {
  await tx.query('INSERT INTO call_change (firm_uuid, first, last, calls, said) VALUES ($1, $2, $3, $4, true)', [
    firmUuid,
    first,
    last,
    calls,
  ]);
}

/** The last change of the firm that has been committed and not yet indexed; null when the index is up to date. */
export async function lastChange(sql: Sql, firmUuid: string): Promise<number | null> {
  const [row] = await sql.query<{ position: number | null }>(
    'SELECT max(position) AS position FROM call_change WHERE firm_uuid = $1',
    [firmUuid],
  );
  return row?.position ?? null;
}

/** Grows with every change, of whatever firm. */
export async function changesSoFar(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ changes: number | null }>(
    `SELECT pg_sequence_last_value(pg_get_serial_sequence('call_change', 'position')) AS changes`,
  );
  return row?.changes ?? 0;
}

/** Whether changes up to that one are still waiting. */
export async function isBehind(sql: Sql, firmUuid: string, position: number): Promise<boolean> {
  const rows = await sql.query('SELECT 1 FROM call_change WHERE firm_uuid = $1 AND position <= $2 LIMIT 1', [
    firmUuid,
    position,
  ]);
  return rows.length > 0;
}

/**
 * How many calls the firm has: those that the index knows, and those that wait for it. A call that has changed may be
 * known before the others of its range, and must not count twice.
 */
export async function countCalls(sql: Sql, firmUuid: string): Promise<number> {
  const [row] = await sql.query<{ calls: number }>(
    `WITH known AS (SELECT id, calls FROM facet WHERE firm_uuid = $1 AND kind = 'all' AND value = '')
     SELECT coalesce((SELECT calls FROM known), 0) + coalesce((
       SELECT sum(calls - (
         SELECT count(*) FROM known JOIN call_search ON firm = known.id AND uuid BETWEEN waiting.first AND waiting.last))
       FROM call_change AS waiting WHERE firm_uuid = $1 AND calls > 0), 0)::bigint AS calls`,
    [firmUuid],
  );
  return row!.calls;
}

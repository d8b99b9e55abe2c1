import type { Sql } from '@call-analysis/postgres';

/**
 * The properties of a call that are facets. `all` holds the firm itself, `mark` the score, and `shelf` a block of
 * documents (see indexer/document-blocks.ts).
 */
export type FacetKind =
  | 'all'
  | 'state'
  | 'origin'
  | 'segment'
  | 'operator'
  | 'team'
  | 'campaign'
  | 'batch'
  | 'day'
  | 'mark'
  | 'shelf';

export interface Facet {
  readonly id: number;
  readonly kind: FacetKind;
  readonly value: string;
  /** The facet count: how many calls have the value. */
  readonly calls: number;
}

export interface FacetKey {
  readonly firmUuid: string;
  readonly kind: FacetKind;
  readonly value: string;
}

/** The score of a call that has none. */
export const NO_SCORE = -1;

export const STATUSES = ['queued', 'transcribing', 'analyzing', 'completed', 'failed', 'canceled'];
export const OUTCOMES = ['scored', 'no_speech'];
export const SOURCES = ['audio', 'transcription'];
export const DIRECTIONS = ['inbound', 'outbound'];

/**
 * Two properties in one facet: status and outcome, or source and direction. Together they have few values, and a filter
 * on either one lists all values of the other.
 */
export function pairValue(one: string, other: string | null): string {
  return `${one}:${other ?? ''}`;
}

/** A score in tenths, as a value whose text order is the order of scores. */
export function scoreValue(tenths: number): string {
  return tenths === NO_SCORE ? 'none' : String(tenths).padStart(4, '0');
}

/** The day in UTC. */
export function dayValue(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** The facets with these values, as far as they exist. */
export async function readFacets(
  sql: Sql,
  firmUuid: string,
  values: ReadonlyMap<FacetKind, readonly string[]>,
): Promise<Facet[]> {
  const each = [...values].flatMap(([kind, ofKind]) => ofKind.map((value) => ({ kind, value })));
  return sql.query<Facet>(
    `SELECT id, kind, value, calls FROM facet JOIN unnest($2::text[], $3::text[]) AS named (kind, value) USING (kind, value)
     WHERE firm_uuid = $1`,
    [firmUuid, each.map(({ kind }) => kind), each.map(({ value }) => value)],
  );
}

/** The facets of one kind with values from `from` to `to`, both inclusive, in the order of values. */
export async function readFacetRange(
  sql: Sql,
  firmUuid: string,
  kind: FacetKind,
  from: string,
  to: string,
): Promise<Facet[]> {
  return sql.query<Facet>(
    `SELECT id, kind, value, calls FROM facet
     WHERE firm_uuid = $1 AND kind = $2 AND value BETWEEN $3 AND $4 ORDER BY value`,
    [firmUuid, kind, from, to],
  );
}

/** The ids of facets by `facetKeyText`. Missing facets are created. */
export async function ensureFacets(tx: Sql, keys: readonly FacetKey[]): Promise<Map<string, number>> {
  const distinct = [...new Map(keys.map((key) => [facetKeyText(key), key])).values()];
  const columns = [
    distinct.map((each) => each.firmUuid),
    distinct.map((each) => each.kind),
    distinct.map((each) => each.value),
  ];
  const read = `SELECT id, firm_uuid AS "firmUuid", kind, value FROM facet
    JOIN unnest($1::uuid[], $2::text[], $3::text[]) AS named (firm_uuid, kind, value) USING (firm_uuid, kind, value)`;
  const existing = await tx.query<FacetKey & { id: number }>(read, columns);
  const ids = new Map(existing.map((facet) => [facetKeyText(facet), facet.id]));
  const missing = distinct.filter((key) => !ids.has(facetKeyText(key)));
  if (missing.length === 0) return ids;
  const created = await tx.query<FacetKey & { id: number }>(
    `INSERT INTO facet (firm_uuid, kind, value) SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[])
     RETURNING id, firm_uuid AS "firmUuid", kind, value`,
    [missing.map((each) => each.firmUuid), missing.map((each) => each.kind), missing.map((each) => each.value)],
  );
  for (const facet of created) ids.set(facetKeyText(facet), facet.id);
  return ids;
}

export function facetKeyText({ firmUuid, kind, value }: FacetKey): string {
  return `${firmUuid} ${kind} ${value}`;
}

/** Adds the changes by facet id to the counts. A value that no call has any more is deleted: it may name a person. */
export async function changeFacetCounts(tx: Sql, changes: ReadonlyMap<number, number>): Promise<void> {
  const changed = [...changes].filter(([, by]) => by !== 0);
  if (changed.length === 0) return;
  const ids = changed.map(([id]) => id);
  await tx.query(
    `UPDATE facet SET calls = calls + change.by FROM unnest($1::int[], $2::int[]) AS change (id, by) WHERE facet.id = change.id`,
    [ids, changed.map(([, by]) => by)],
  );
  // A block is a range of uuids, into which later documents may fall.
  await tx.query(`DELETE FROM facet WHERE id = ANY($1) AND calls <= 0 AND kind NOT IN ('all', 'shelf')`, [ids]);
}

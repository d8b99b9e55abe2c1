import type { Sql } from '@call-analysis/postgres';

/** What of a call is a facet; `all` is that it is the firm's. */
export type Kind =
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
  readonly kind: Kind;
  readonly value: string;
  /** How many calls have it. */
  readonly calls: number;
}

export interface NamedFacet {
  readonly firmUuid: string;
  readonly kind: Kind;
  readonly value: string;
}

/** The score of a call that has none. */
export const UNSCORED = -1;

export const STATUSES = ['queued', 'transcribing', 'analyzing', 'completed', 'failed', 'canceled'];
export const OUTCOMES = ['scored', 'no_speech'];
export const SOURCES = ['audio', 'transcription'];
export const DIRECTIONS = ['inbound', 'outbound'];

/** Two properties in one facet: together they have few values, and either can be asked for. */
export function pair(one: string, other: string | null): string {
  return `${one}:${other ?? ''}`;
}

/** A score in tenths, as a facet that sorts. */
export function markOf(tenths: number): string {
  return tenths === UNSCORED ? 'none' : String(tenths).padStart(4, '0');
}

export function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** The facets that are there, of those named. */
export async function readFacets(
  sql: Sql,
  firmUuid: string,
  named: ReadonlyMap<Kind, readonly string[]>,
): Promise<Facet[]> {
  const each = [...named].flatMap(([kind, values]) => values.map((value) => ({ kind, value })));
  return sql.query<Facet>(
    `SELECT id, kind, value, calls FROM facet JOIN unnest($2::text[], $3::text[]) AS named (kind, value) USING (kind, value)
     WHERE firm_uuid = $1`,
    [firmUuid, each.map(({ kind }) => kind), each.map(({ value }) => value)],
  );
}

/** Facets of one kind with values between two, both included, in their order. */
export async function readFacetsBetween(
  sql: Sql,
  firmUuid: string,
  kind: Kind,
  from: string,
  to: string,
): Promise<Facet[]> {
  return sql.query<Facet>(
    `SELECT id, kind, value, calls FROM facet
     WHERE firm_uuid = $1 AND kind = $2 AND value BETWEEN $3 AND $4 ORDER BY value`,
    [firmUuid, kind, from, to],
  );
}

/** Ids of facets by `keyOf`; those that are not there yet are made. */
export async function facetIds(tx: Sql, named: readonly NamedFacet[]): Promise<Map<string, number>> {
  const distinct = [...new Map(named.map((facet) => [keyOf(facet), facet])).values()];
  const columns = [
    distinct.map((each) => each.firmUuid),
    distinct.map((each) => each.kind),
    distinct.map((each) => each.value),
  ];
  const read = `SELECT id, firm_uuid AS "firmUuid", kind, value FROM facet
    JOIN unnest($1::uuid[], $2::text[], $3::text[]) AS named (firm_uuid, kind, value) USING (firm_uuid, kind, value)`;
  const found = await tx.query<NamedFacet & { id: number }>(read, columns);
  const ids = new Map(found.map((facet) => [keyOf(facet), facet.id]));
  const missing = distinct.filter((facet) => !ids.has(keyOf(facet)));
  if (missing.length === 0) return ids;
  const made = await tx.query<NamedFacet & { id: number }>(
    `INSERT INTO facet (firm_uuid, kind, value) SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[])
     RETURNING id, firm_uuid AS "firmUuid", kind, value`,
    [missing.map((each) => each.firmUuid), missing.map((each) => each.kind), missing.map((each) => each.value)],
  );
  for (const facet of made) ids.set(keyOf(facet), facet.id);
  return ids;
}

export function keyOf({ firmUuid, kind, value }: NamedFacet): string {
  return `${firmUuid} ${kind} ${value}`;
}

/** Counts up and down; what no call has any more is forgotten, for it may name a person. */
export async function countFacets(tx: Sql, changes: ReadonlyMap<number, number>): Promise<void> {
  const changed = [...changes].filter(([, by]) => by !== 0);
  if (changed.length === 0) return;
  const ids = changed.map(([id]) => id);
  await tx.query(
    `UPDATE facet SET calls = calls + change.by FROM unnest($1::int[], $2::int[]) AS change (id, by) WHERE facet.id = change.id`,
    [ids, changed.map(([, by]) => by)],
  );
  // A shelf is a place among uuids, which later calls may stand on.
  await tx.query(`DELETE FROM facet WHERE id = ANY($1) AND calls <= 0 AND kind NOT IN ('all', 'shelf')`, [ids]);
}

import { createHash } from 'node:crypto';
import type { Sql } from '@call-analysis/postgres';

/**
 * The properties of a call that are facets. `all` holds the firm itself, `mark` the score, and `shelf` a block of
 * documents (see indexer/document-blocks.ts). `number` is the operator's id, `length` a step of the duration, `trait`
 * one of `TRAITS`, and `lost` the uuid of a question that lost the call points.
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
  | 'shelf'
  | 'language'
  | 'resolution'
  | 'topic'
  | 'number'
  | 'length'
  | 'trait'
  | 'scorecard'
  | 'question'
  | 'lost';

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

/** Properties that a call either has or not. */
export const TRAITS = { needsReview: 'needs_review', reviewed: 'reviewed', autoFailed: 'auto_failed' } as const;

/** The kinds whose values are compared without regard to case. */
const FOLDED_KINDS: readonly FacetKind[] = ['operator', 'team'];

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

/** A name without regard to case and to how its accents are encoded. */
export function foldName(name: string): string {
  return name.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}

/** Steps of a duration in seconds, about a fifth apart. Equal durations are in one step. */
export function lengthStep(seconds: number): number {
  return Math.floor(4 * Math.log2(1 + Math.max(0, seconds)));
}

/** A step as a value whose text order is the order of durations. */
export function lengthValue(step: number): string {
  return String(step).padStart(3, '0');
}

/** The digits of a phone number. Numbers are compared by them. */
export function phoneDigits(phone: string): string {
  return phone.replaceAll(/\D/g, '');
}

/**
 * The tag of a phone number in a firm: a negative number, which no facet has. A facet for every client would double the
 * work of the indexer.
 */
export function phoneTag(firmUuid: string, phone: string): number {
  const sum = createHash('sha256')
    .update(`${firmUuid} ${phoneDigits(phone)}`)
    .digest();
  return -1 - sum.readUIntBE(0, 6);
}

/** The facets of operators or groups with this name, in any case. */
export async function readFolded(sql: Sql, firmUuid: string, kind: FacetKind, name: string): Promise<Facet[]> {
  const folded = foldName(name);
  const facets = await sql.query<Facet & { folded: string | null }>(
    `SELECT id, kind, value, calls, folded FROM facet
     WHERE firm_uuid = $1 AND kind = $2 AND (folded = $3 OR folded IS NULL) AND kind IN ('operator', 'team')`,
    [firmUuid, kind, folded],
  );
  return facets.filter((facet) => facet.folded !== null || foldName(facet.value) === folded);
}

/** Writes the folded names of facets that an earlier release has created. Returns how many there were. */
export async function foldFacets(sql: Sql, limit: number): Promise<number> {
  const facets = await sql.query<{ id: number; value: string }>(
    `SELECT id, value FROM facet WHERE kind IN ('operator', 'team') AND folded IS NULL LIMIT $1`,
    [limit],
  );
  if (facets.length === 0) return 0;
  await sql.query(
    'UPDATE facet SET folded = named.folded FROM unnest($1::int[], $2::text[]) AS named (id, folded) WHERE facet.id = named.id',
    [facets.map(({ id }) => id), facets.map(({ value }) => foldName(value))],
  );
  return facets.length;
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

/**
 * The facets of the calls of one transaction. Equal facets are one object: thousands of calls share few, and looking
 * each one up by a text of its own took a quarter of the indexer's time.
 */
export class FacetKeys {
  readonly #byFirm = new Map<string, Map<FacetKind, Map<string, FacetKey>>>();
  readonly #all: FacetKey[] = [];

  of(firmUuid: string, kind: FacetKind, value: string): FacetKey {
    const kinds = entryOf(this.#byFirm, firmUuid, () => new Map<FacetKind, Map<string, FacetKey>>());
    const values = entryOf(kinds, kind, () => new Map<string, FacetKey>());
    return entryOf(values, value, () => {
      const key = { firmUuid, kind, value };
      this.#all.push(key);
      return key;
    });
  }

  /** The ids of all facets so far. Missing facets are created. */
  async ids(tx: Sql): Promise<ReadonlyMap<FacetKey, number>> {
    const keys = this.#all;
    const columns = [keys.map((each) => each.firmUuid), keys.map((each) => each.kind), keys.map((each) => each.value)];
    const ids = new Map<FacetKey, number>();
    const note = (found: readonly (FacetKey & { id: number })[]) => {
      for (const { firmUuid, kind, value, id } of found) ids.set(this.of(firmUuid, kind, value), id);
    };
    note(
      await tx.query(
        `SELECT id, firm_uuid AS "firmUuid", kind, value FROM facet
         JOIN unnest($1::uuid[], $2::text[], $3::text[]) AS named (firm_uuid, kind, value) USING (firm_uuid, kind, value)`,
        columns,
      ),
    );
    const missing = keys.filter((key) => !ids.has(key));
    if (missing.length === 0) return ids;
    const folded = (each: FacetKey) => (FOLDED_KINDS.includes(each.kind) ? foldName(each.value) : null);
    note(
      await tx.query(
        `INSERT INTO facet (firm_uuid, kind, value, folded) SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[])
         RETURNING id, firm_uuid AS "firmUuid", kind, value`,
        [
          missing.map((each) => each.firmUuid),
          missing.map((each) => each.kind),
          missing.map((each) => each.value),
          missing.map(folded),
        ],
      ),
    );
    return ids;
  }
}

function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}

/** Writes what scorecards and questions are called now. */
export async function labelFacets(tx: Sql, labels: ReadonlyMap<number, string>): Promise<void> {
  if (labels.size === 0) return;
  await tx.query(
    `UPDATE facet SET label = named.label FROM unnest($1::int[], $2::text[]) AS named (id, label)
     WHERE facet.id = named.id AND facet.label IS DISTINCT FROM named.label`,
    [[...labels.keys()], [...labels.values()]],
  );
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

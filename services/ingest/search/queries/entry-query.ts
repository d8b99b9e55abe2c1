import type { Database } from '@call-analysis/postgres';
import type { Position, Sort } from '../call-query.ts';

/** A range of uuids, both ends inclusive. Uuids begin with the time at which their calls were created. */
export interface UuidRange {
  readonly first: string;
  readonly last: string;
}

/**
 * Builds the text and the values of one query on the index of one firm. Every source of entries or documents carries the
 * condition on the firm.
 */
export class EntryQuery {
  readonly values: unknown[];
  readonly #within: string | null;

  /** `range`: no entry outside it can match. */
  constructor({ firm, range }: { readonly firm: number; readonly range: UuidRange | null }) {
    this.values = [firm];
    this.#within = range && `c.uuid BETWEEN ${this.value(range.first, 'uuid')} AND ${this.value(range.last, 'uuid')}`;
  }

  /** Adds a value and returns its placeholder. */
  value(value: unknown, type: string): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }

  /** The firm's entries that meet the conditions, as `c`. */
  entries(...conditions: readonly (string | null)[]): string {
    const all = ['c.firm = $1', this.#within, ...conditions].filter((each) => each !== null);
    return `call_search AS c WHERE ${all.join(' AND ')}`;
  }

  /** The same, found by the index of tags, which alone serves the first condition. */
  tagged(condition: string, ...conditions: readonly (string | null)[]): string {
    const others = ['c.firm = $1', this.#within].filter((each) => each !== null).map(notIndexed);
    const all = [condition, ...others, ...conditions.filter((each) => each !== null)];
    return `call_search AS c WHERE ${all.join(' AND ')}`;
  }

  /** The firm's documents that meet the conditions, as `t`; `withEntries` joins the entry of each, as `c`. */
  documents({ withEntries }: { withEntries: boolean }, ...conditions: readonly (string | null)[]): string {
    const entries = withEntries ? 'JOIN call_search AS c ON c.firm = t.firm AND c.uuid = t.uuid' : '';
    const all = [notIndexed('t.firm = $1'), ...conditions.filter((each) => each !== null)];
    return `call_text AS t ${entries} WHERE ${all.join(' AND ')}`;
  }

  /**
   * The condition for entries after a position. The index of the sort serves it, except for ascending scores, where
   * entries without a score come last.
   */
  after(sort: Sort, position: Position | null): string | null {
    if (position === null) return null;
    const than = sort.isDescending ? '<' : '>';
    const uuid = this.value(position.uuid, 'uuid');
    if (sort.by === 'created_at') return `c.uuid ${than} ${uuid}`;
    if (sort.by === 'start_time')
      return `(c.start_time, c.uuid) ${than} (${this.value(position.startTime, 'timestamptz')}, ${uuid})`;
    const score = this.value(position.score, 'smallint');
    if (sort.isDescending) return `(c.score, c.uuid) < (${score}, ${uuid})`;
    return `(c.score < 0, c.score, c.uuid) > (${score} < 0, ${score}, ${uuid})`;
  }
}

/**
 * A condition that PostgreSQL only filters by. It uses no index for a condition in this form, and so reads the index
 * that the plan has chosen.
 */
export function notIndexed(condition: string): string {
  return `(${condition}) IS TRUE`;
}

export function orderBy({ by, isDescending }: Sort, alias: string): string {
  const direction = isDescending ? 'DESC' : 'ASC';
  if (by === 'created_at') return `${alias}.uuid ${direction}`;
  if (by === 'start_time') return `${alias}.start_time ${direction}, ${alias}.uuid ${direction}`;
  return isDescending
    ? `${alias}.score DESC, ${alias}.uuid DESC`
    : `(${alias}.score < 0), ${alias}.score, ${alias}.uuid`;
}

/** The columns of a `Position`. */
export const POSITION_COLUMNS = 'uuid, start_time AS "startTime", score';

/**
 * Runs a query with only those plan nodes enabled that its text was written for. PostgreSQL has no statistics on the
 * values of one firm and would often choose a plan that reads far more.
 */
export async function run<Row = Position>(
  db: Database,
  text: string,
  query: EntryQuery,
  { sorting, bitmaps = false, indexes = true }: { sorting: boolean; bitmaps?: boolean; indexes?: boolean },
): Promise<Row[]> {
  const allowed = {
    enable_sort: sorting,
    enable_bitmapscan: bitmaps,
    enable_indexscan: indexes,
    enable_indexonlyscan: indexes,
  };
  const disabled = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'enable_memoize', 'jit'];
  const settings = [
    ...Object.entries(allowed).map(([name, isOn]) => `SET LOCAL ${name} = ${isOn ? 'on' : 'off'}`),
    ...disabled.map((name) => `SET LOCAL ${name} = off`),
    'SET LOCAL max_parallel_workers_per_gather = 0',
    // A bitmap that does not fit into memory degrades to pages, and then every entry of each page is read.
    ...(bitmaps ? ["SET LOCAL work_mem = '64MB'"] : []),
  ];
  return db.transaction(async (tx) => {
    await tx.query(settings.join('; '));
    return tx.query<Row>(text, query.values);
  });
}

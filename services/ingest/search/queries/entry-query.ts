import type { Database } from '@call-analysis/postgres';
import type { Place, Sort } from '../call-query.ts';

/** Uuids from the first to the last, both inclusive. They begin with the time at which their calls came. */
export interface Span {
  readonly first: string;
  readonly last: string;
}

/**
 * The text of one query over the entries of one firm. The firm is given when it is begun, stands in every source of
 * entries, and cannot be left out.
 */
export class EntryQuery {
  readonly values: unknown[];
  readonly #within: string | null;

  /** `span`: beyond it no entry can match. */
  constructor({ firm, span }: { readonly firm: number; readonly span: Span | null }) {
    this.values = [firm];
    this.#within = span && `c.uuid BETWEEN ${this.value(span.first, 'uuid')} AND ${this.value(span.last, 'uuid')}`;
  }

  /** Stands for the value in the text. */
  value(value: unknown, type: string): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }

  /** Entries of the firm under these conditions, as `c`. */
  entries(...conditions: readonly (string | null)[]): string {
    const all = ['c.firm = $1', this.#within, ...conditions].filter((each) => each !== null);
    return `call_search AS c WHERE ${all.join(' AND ')}`;
  }

  /** Documents of the firm under these conditions, as `t`; `withEntries` each beside its entry, as `c`. */
  texts({ withEntries }: { withEntries: boolean }, ...conditions: readonly (string | null)[]): string {
    const entries = withEntries ? 'JOIN call_search AS c ON c.firm = t.firm AND c.uuid = t.uuid' : '';
    const all = [onlyChecked('t.firm = $1'), ...conditions.filter((each) => each !== null)];
    return `call_text AS t ${entries} WHERE ${all.join(' AND ')}`;
  }

  /** What comes behind a place, in a form that the index of the sort serves, save for the lowest scores first. */
  behind(sort: Sort, place: Place | null): string | null {
    if (place === null) return null;
    const than = sort.isDescending ? '<' : '>';
    const uuid = this.value(place.uuid, 'uuid');
    if (sort.by === 'created_at') return `c.uuid ${than} ${uuid}`;
    if (sort.by === 'start_time')
      return `(c.start_time, c.uuid) ${than} (${this.value(place.startTime, 'timestamptz')}, ${uuid})`;
    const score = this.value(place.score, 'smallint');
    if (sort.isDescending) return `(c.score, c.uuid) < (${score}, ${uuid})`;
    return `(c.score < 0, c.score, c.uuid) > (${score} < 0, ${score}, ${uuid})`;
  }
}

/** PostgreSQL looks up no index for a condition in this form, so it reads the one that we chose. */
export function onlyChecked(condition: string): string {
  return `(${condition}) IS TRUE`;
}

export function orderOf({ by, isDescending }: Sort, alias: string): string {
  const way = isDescending ? 'DESC' : 'ASC';
  if (by === 'created_at') return `${alias}.uuid ${way}`;
  if (by === 'start_time') return `${alias}.start_time ${way}, ${alias}.uuid ${way}`;
  return isDescending
    ? `${alias}.score DESC, ${alias}.uuid DESC`
    : `(${alias}.score < 0), ${alias}.score, ${alias}.uuid`;
}

/** Of the columns that a place is made of. */
export const PLACE = 'uuid, start_time AS "startTime", score';

/** PostgreSQL knows too little of the values to choose: it is left the way that the text was written for. */
export async function run<Row = Place>(
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
  const refused = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'enable_memoize', 'jit'];
  const settings = [
    ...Object.entries(allowed).map(([name, isOn]) => `SET LOCAL ${name} = ${isOn ? 'on' : 'off'}`),
    ...refused.map((name) => `SET LOCAL ${name} = off`),
    'SET LOCAL max_parallel_workers_per_gather = 0',
    // A bitmap that does not fit names pages instead of entries, and all of these are looked at.
    ...(bitmaps ? ["SET LOCAL work_mem = '64MB'"] : []),
  ];
  return db.transaction(async (tx) => {
    await tx.query(settings.join('; '));
    return tx.query<Row>(text, query.values);
  });
}

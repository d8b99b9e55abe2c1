/**
 * Runs SQL: a pool, or one open transaction. Names without a schema refer to the service's own schema, because every
 * connection is opened with its `search_path`.
 */
export interface Sql {
  query<Row = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** Rows in an order. */
interface Listed {
  readonly columns: string;
  /** FROM and WHERE, with `values` as parameters. */
  readonly matching: string;
  readonly values: readonly unknown[];
  readonly orderBy: string;
}

/** Which page of a list, from 1, and how many items a page has. */
export interface Page {
  readonly page: number;
  readonly size: number;
}

/** A page of rows, and how many rows there are. */
export async function readPage<Row>(
  sql: Sql,
  { columns, matching, values, orderBy }: Listed,
  { page, size }: Page,
): Promise<{ count: number; items: Row[] }> {
  const [limit, offset] = [values.length + 1, values.length + 2];
  const [items, [counted]] = await Promise.all([
    sql.query<Row>(`SELECT ${columns} ${matching} ORDER BY ${orderBy} LIMIT $${limit} OFFSET $${offset}`, [
      ...values,
      size,
      (page - 1) * size,
    ]),
    sql.query<{ count: number }>(`SELECT count(*)::int AS count ${matching}`, values),
  ]);
  return { count: counted!.count, items };
}

/** Fields of a row, as parameters of a statement. */
export function valuesOf<Row>(row: Row, ...names: readonly (keyof Row)[]): unknown[] {
  return names.map((name) => row[name]);
}

/** Fields of rows, each as an array, for `unnest`. */
export function columnsOf<Row>(rows: readonly Row[], ...names: readonly (keyof Row)[]): unknown[][] {
  return names.map((name) => rows.map((row) => row[name]));
}

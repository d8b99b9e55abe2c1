/**
 * Runs SQL: a pool, or one open transaction. Names without a schema refer to the service's own schema, because every
 * connection is opened with its `search_path`.
 */
export interface Sql {
  query<Row = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

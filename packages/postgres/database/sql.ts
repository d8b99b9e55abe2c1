/**
 * Something that runs SQL: a pool, or one open transaction. Names without a schema mean the service's own,
 * because every connection is opened with its `search_path`.
 */
export interface Sql {
  query<Row = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

import type { ParquetWriter as Writer } from 'hyparquet-writer';
import type { Column, ColumnKind, Format, Row } from '../columns.ts';

/** The number of calls in memory at the same time. */
const ROWS_PER_GROUP = 5_000;

type Schema = ConstructorParameters<typeof Writer>[0]['schema'];

const types = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  json: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  // A timestamp would be one in UTC.
  'local-time': { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  time: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  number: { type: 'DOUBLE' },
  integer: { type: 'INT32' },
} as const satisfies Record<ColumnKind, object>;

/** Parquet with times as timestamps in UTC and numbers as numbers. */
export const parquet: Format = async function* (columns, pages) {
  const { ByteWriter, ParquetWriter } = await import('hyparquet-writer');
  const schema: Schema = [
    { name: 'calls', num_children: columns.length },
    ...columns.map(({ name, kind }) => ({ name, ...types[kind], repetition_type: 'OPTIONAL' as const })),
  ];
  const bytes = new ByteWriter();
  const file = new ParquetWriter({ writer: bytes, schema });
  /** The bytes written since the last call. */
  const written = () => {
    const piece = Buffer.from(bytes.getBytes());
    bytes.index = 0;
    return piece;
  };
  let group: Row[] = [];
  const writeGroup = async () => {
    const columnData = columns.map((column, index) => ({ name: column.name, data: valuesOf(column, index, group) }));
    await file.write({ columnData, rowGroupSize: group.length });
    group = [];
    return written();
  };
  for await (const rows of pages) {
    group.push(...rows);
    if (group.length >= ROWS_PER_GROUP) yield await writeGroup();
  }
  if (group.length > 0) yield await writeGroup();
  file.finish();
  yield written();
};

function valuesOf({ kind }: Column, index: number, rows: readonly Row[]): (string | number | Date | null)[] {
  return rows.map((row) => {
    const value = row[index] ?? null;
    if (value === null || kind === 'text' || kind === 'json' || kind === 'local-time') return value;
    return kind === 'time' ? new Date(value) : Number(value);
  });
}

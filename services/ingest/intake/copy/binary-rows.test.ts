import { randomUUID } from 'node:crypto';
import { finished } from 'node:stream/promises';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { from as copyFrom } from 'pg-copy-streams';
import { parse } from 'uuid';
import { IngestUnderTest } from '../../test/ingest-under-test.ts';
import { BinaryRows } from './binary-rows.ts';

const service = new IngestUnderTest();

interface Row {
  readonly said: string | null;
  readonly id: string | null;
  readonly turn: number;
  readonly length: number;
  readonly ms: number;
  readonly entry: { readonly name: string };
}

function write(rows: BinaryRows, { said, id, turn, length, ms, entry }: Row): void {
  rows.fields(6);
  rows.text(said);
  rows.uuid(id === null ? null : parse(id));
  rows.int(turn);
  rows.double(length);
  rows.instant(ms);
  rows.json(entry);
  rows.endRow();
}

async function copied(file: Buffer | null): Promise<Row[]> {
  return service.db.transaction(async (tx) => {
    await tx.query(`CREATE TEMP TABLE copied (place int GENERATED ALWAYS AS IDENTITY, said text, id uuid, turn int,
      length float8, started timestamptz(3), entry jsonb) ON COMMIT DROP`);
    if (file !== null) {
      const sink = tx.client.query(
        copyFrom('COPY copied (said, id, turn, length, started, entry) FROM STDIN (FORMAT binary)'),
      );
      sink.end(file);
      await finished(sink);
    }
    return tx.query<Row>(
      `SELECT said, id, turn, length, (extract(epoch FROM started) * 1000)::int8 AS ms, entry FROM copied ORDER BY place`,
    );
  });
}

const text = fc.string({
  unit: fc.constantFrom('a', '"', '\\', '\t', '\n', '\r', 'ж', '中', '😀', '\u007f', '\u0080'),
  maxLength: 40,
});
const row: fc.Arbitrary<Row> = fc.record({
  said: fc.option(text),
  id: fc.option(fc.constant(null).map(() => randomUUID())),
  turn: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  length: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  ms: fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }),
  entry: fc.record({ name: text }),
});

describe('rows in the binary format of COPY', () => {
  it('are read by PostgreSQL as they were written', async () => {
    const rows = new BinaryRows();
    await fc.assert(
      fc.asyncProperty(fc.array(row), async (written) => {
        rows.clear();
        for (const each of written) write(rows, each);
        expect(await copied(rows.file(null))).toEqual(written);
      }),
      { numRuns: 50 },
    );
  });

  it('are sent without those that are not wanted, and with all of them the next time', async () => {
    const written = fc.sample(row, 20);
    const rows = new BinaryRows();
    for (const each of written) write(rows, each);
    const odd = (place: number) => place % 2 === 1;
    expect(await copied(rows.file(odd))).toEqual(written.filter((_, place) => odd(place)));
    expect(await copied(rows.file(null))).toEqual(written);
  });

  it('are no file when there are none', () => {
    const rows = new BinaryRows();
    expect(rows.file(null)).toBeNull();
    write(rows, fc.sample(row, 1)[0]!);
    expect(rows.file(() => false)).toBeNull();
    rows.clear();
    expect(rows.file(null)).toBeNull();
  });

  it('may be longer than the memory that they began with', async () => {
    const long = { ...fc.sample(row, 1)[0]!, said: 'ё'.repeat(300_000) };
    const rows = new BinaryRows();
    write(rows, long);
    write(rows, long);
    expect(await copied(rows.file(null))).toEqual([long, long]);
  });
});

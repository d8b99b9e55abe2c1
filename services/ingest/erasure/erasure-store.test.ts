import { expect, it } from '@jest/globals';
import { IngestUnderTest } from '../test/ingest-under-test.ts';
import { TABLES } from './erasure-store.ts';

const service = new IngestUnderTest();

/** What is left of a firm or a call on purpose, or goes with other rows by a trigger. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  firm_removal: 'the receipt of the removal',
  listed_call: 'with its call',
  listed_points: 'with its call',
  listing_carry_over: 'a position, of no firm',
  listing_stale: 'with its call',
};

async function tablesWith(column: string): Promise<string[]> {
  const rows = await service.db.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
     WHERE table_schema = current_schema AND table_type = 'BASE TABLE' AND column_name = $1 ORDER BY table_name`,
    [column],
  );
  return rows.map(({ name }) => name);
}

it('every table with data of a firm is removed with it', async () => {
  const tables = (await tablesWith('firm_uuid')).filter((name) => ELSEWHERE[name] === undefined);
  expect(TABLES.map(({ name }) => name).toSorted()).toEqual(tables);
});

it('every table with data of a call is removed with it, but for the receipt and what a job has begun', async () => {
  const tables = (await tablesWith('call_uuid')).filter((name) => name !== 'erasure' && name !== 'job_call');
  const ofCall = TABLES.filter((table) => table.ofCall).map(({ name }) => name);
  expect(ofCall.toSorted()).toEqual(tables);
});

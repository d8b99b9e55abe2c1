import { openDatabase } from '@call-analysis/postgres';
import { afterAll, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { freshDatabase, type TestDatabase } from './database.ts';

const made: TestDatabase[] = [];

async function make(): Promise<TestDatabase> {
  const database = await freshDatabase();
  made.push(database);
  return database;
}

afterAll(() => Promise.all(made.map((each) => each.drop())));

it('databases that are created at the same time are separate', async () => {
  const [one, two] = await Promise.all([make(), make()]);
  const first = openDatabase({ url: one.url('ingest'), schema: 'ingest' });
  const second = openDatabase({ url: two.url('ingest'), schema: 'ingest' });
  await first.query('CREATE TABLE calls (id int)');
  expect(await second.query("SELECT to_regclass('calls') AS calls")).toEqual([{ calls: null }]);
  await Promise.all([first.close(), second.close()]);
});

it('a service can write to the bus schema as a member of its role, and the bus role can read it', async () => {
  const database = await make();
  const bus = openDatabase({ url: database.url('bus'), schema: 'bus' });
  const ingest = openDatabase({ url: database.url('ingest'), schema: 'ingest' });
  await bus.query('CREATE TABLE jobs (id int)');
  await ingest.query('INSERT INTO bus.jobs VALUES (1)');
  expect(await bus.query('SELECT id FROM jobs')).toEqual([{ id: 1 }]);
  await Promise.all([bus.close(), ingest.close()]);
});

it('is dropped even while a client is connected', async () => {
  const database = await freshDatabase();
  const client = new Client({ connectionString: database.adminUrl });
  client.on('error', () => {});
  await client.connect();
  await database.drop();
  const late = new Client({ connectionString: database.adminUrl });
  await expect(late.connect()).rejects.toMatchObject({ code: '3D000' });
});

it('an unknown schema is named in the error', async () => {
  const database = await make();
  expect(() => database.url('nobody')).toThrow(/nobody/);
});

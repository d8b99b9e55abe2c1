import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { freshDatabase, type TestDatabase } from '../../testing/database.ts';
import { type Database, openDatabase } from '../database/database.ts';
import { migrate, requireMigrated } from './migrate.ts';

let home: TestDatabase;
let database: Database;
let folder: string;

beforeAll(async () => {
  home = await freshDatabase();
  database = openDatabase({ url: home.url('ingest'), schema: 'ingest', poolSize: 2 });
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'migrations-'));
  await writeFile(join(folder, 'migration_lock.toml'), 'provider = "postgresql"\n');
});

afterEach(async () => {
  await rm(folder, { recursive: true });
  await database.query('DROP SCHEMA ingest CASCADE').catch(() => {});
  const admin = openDatabase({ url: home.adminUrl, schema: 'ingest' });
  await admin.query('CREATE SCHEMA ingest AUTHORIZATION ingest');
  await admin.close();
});

afterAll(async () => {
  await database.close();
  await home.drop();
});

async function write(name: string, script: string): Promise<void> {
  await mkdir(join(folder, name), { recursive: true });
  await writeFile(join(folder, name, 'migration.sql'), script);
}

function run(): Promise<string[]> {
  return migrate({ url: home.url('ingest'), schema: 'ingest', folder });
}

const firm = '20260101000000_firm';
const call = '20260102000000_call';

it('applies pending migrations in order, and none the next time', async () => {
  await write(call, 'ALTER TABLE firm ADD COLUMN calls int');
  await write(firm, 'CREATE TABLE firm (id int)');
  expect(await run()).toEqual([firm, call]);
  expect(await run()).toEqual([]);
  await write('20260103000000_more', 'CREATE TABLE more (id int)');
  expect(await run()).toEqual(['20260103000000_more']);
});

it('keeps the records that Prisma keeps', async () => {
  const script = 'CREATE TABLE firm (id int); -- Ўзбек\n';
  await write(firm, script);
  await run();
  const rows = await database.query('SELECT *, finished_at >= started_at AS forward FROM _prisma_migrations');
  expect(rows).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      checksum: createHash('sha256').update(script).digest('hex'),
      finished_at: expect.any(Date),
      migration_name: firm,
      logs: null,
      rolled_back_at: null,
      started_at: expect.any(Date),
      applied_steps_count: 1,
      forward: true,
    },
  ]);
});

it('a failing migration leaves nothing behind, reports the line, and can be corrected', async () => {
  await write(firm, 'CREATE TABLE firm (id int)');
  await write(call, "CREATE TABLE call (id int);\nINSERT INTO call VALUES (1);\nSELECT 'ўқ', x FROM nowhere;\n");
  await expect(run()).rejects.toThrow(`Migration ${call} failed at line 3: relation "nowhere" does not exist.`);
  expect(await database.query("SELECT to_regclass('firm') IS NOT NULL AS firm, to_regclass('call') AS call")).toEqual([
    { firm: true, call: null },
  ]);
  expect(await database.query('SELECT migration_name AS name FROM _prisma_migrations')).toEqual([{ name: firm }]);
  await write(call, 'CREATE TABLE call (id int)');
  expect(await run()).toEqual([call]);
});

it('refuses when an applied migration was changed, and applies nothing', async () => {
  await write(firm, 'CREATE TABLE firm (id int)');
  await run();
  await write(firm, 'CREATE TABLE firm (id int8)');
  await write(call, 'CREATE TABLE call (id int)');
  await expect(run()).rejects.toMatchObject({
    name: 'StartFault',
    message: `Migration ${firm} was changed after it had been applied.`,
  });
  expect(await database.query("SELECT to_regclass('call') AS call")).toEqual([{ call: null }]);
});

it('accepts a file with the line ends of another system', async () => {
  await write(firm, 'CREATE TABLE firm (\n  id int\n);\n');
  await run();
  await write(firm, 'CREATE TABLE firm (\r\n  id int\r\n);\r\n');
  expect(await run()).toEqual([]);
});

it('leaves the schema of a later version as it is, so that a version can be rolled back', async () => {
  await write(firm, 'CREATE TABLE firm (id int)');
  await write(call, 'CREATE TABLE call (id int)');
  await run();
  await rm(join(folder, call), { recursive: true });
  expect(await run()).toEqual([]);
  await requireMigrated(database, folder, 'the command');
});

it('a service refuses an older or missing schema, and names the command', async () => {
  await write(firm, 'CREATE TABLE firm (id int)');
  const refusal = () =>
    requireMigrated(database, folder, 'npm run service -- ingest migrate').then(
      () => 'none',
      (error: Error) => error,
    );
  expect(await refusal()).toMatchObject({
    name: 'StartFault',
    message: 'The schema ingest has no tables yet. Run npm run service -- ingest migrate.',
  });
  await run();
  expect(await refusal()).toBe('none');
  await write(call, 'CREATE TABLE call (id int)');
  expect(await refusal()).toMatchObject({
    message: `The schema ingest is older than this version: it lacks ${call}. Run npm run service -- ingest migrate.`,
  });
});

it('names the missing right when the schema cannot be created', async () => {
  await write(firm, 'CREATE TABLE firm (id int)');
  await expect(migrate({ url: home.url('audio'), schema: 'new one', folder })).rejects.toMatchObject({
    name: 'StartFault',
    message: expect.stringMatching(
      /^The role "audio" may not create the schema new one\. Let it: GRANT CREATE ON DATABASE "test_\w+" TO "audio";$/,
    ),
  });
});

it('refuses when an applied migration is no longer in the folder', async () => {
  await write(firm, 'CREATE TABLE firm (id int)');
  await run();
  await rename(join(folder, firm), join(folder, call));
  await expect(run()).rejects.toMatchObject({
    name: 'StartFault',
    message: `Migration ${firm} was applied but is not in the folder. Start the version that has it, or a later one.`,
  });
});

it('refuses to go on after a migration that another tool left unfinished', async () => {
  await write(firm, 'CREATE TABLE firm (id int)');
  await run();
  await database.query('UPDATE _prisma_migrations SET finished_at = NULL');
  await expect(run()).rejects.toMatchObject({ name: 'StartFault', message: expect.stringContaining('never finished') });
  await database.query('UPDATE _prisma_migrations SET rolled_back_at = now()');
  await database.query('DROP TABLE firm');
  expect(await run()).toEqual([firm]);
});

it('of several concurrent runs one applies the migrations and the others find nothing to do', async () => {
  await write(firm, 'CREATE TABLE firm (id int); SELECT pg_sleep(0.2)');
  await write(call, 'CREATE TABLE call (id int)');
  const results = await Promise.all([run(), run(), run()]);
  expect(results.toSorted((a, b) => b.length - a.length)).toEqual([[firm, call], [], []]);
});

it('a migration that changes the search path is recorded in its own schema', async () => {
  await write(firm, "SELECT set_config('search_path', 'pg_catalog', false); CREATE TABLE ingest.firm (id int)");
  expect(await run()).toEqual([firm]);
  expect(await run()).toEqual([]);
});

it('creates a missing schema when the role has the right', async () => {
  await write(firm, 'CREATE TABLE firm (id int)');
  expect(await migrate({ url: home.adminUrl, schema: 'brand new', folder })).toEqual([firm]);
  expect(await migrate({ url: home.adminUrl, schema: 'brand new', folder })).toEqual([]);
});

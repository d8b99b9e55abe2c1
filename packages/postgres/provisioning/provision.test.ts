import { randomBytes } from 'node:crypto';
import { afterAll, beforeEach, afterEach, expect, it } from '@jest/globals';
import { Client, escapeIdentifier } from 'pg';
import { openDatabase } from '../database/database.ts';
import { databaseUrl, provision, type ProvisionOptions } from './provision.ts';

const adminUrl = process.env['TEST_DATABASE_URL'] ?? '';
const roles = new Set<string>();
const databases = new Set<string>();
let plan: ProvisionOptions & { readonly database: string };

beforeEach(() => {
  const tag = randomBytes(4).toString('hex');
  // Names and passwords that break where quoting is forgotten.
  plan = {
    adminUrl,
    database: `test "db" ${tag}`,
    schemas: [
      { schema: `o'ne "a" ${tag}`, role: `r'ole "a" ${tag}`, password: `p'a"ss\\w:o@r/d%?#` },
      { schema: `two_${tag}`, role: `role_b_${tag}`, password: 'b' },
    ],
  };
  databases.add(plan.database);
  for (const { role } of plan.schemas) roles.add(role);
});

async function asAdmin<T>(work: (client: Client) => Promise<T>, database = 'postgres'): Promise<T> {
  const client = new Client({ connectionString: databaseUrl(adminUrl, database) });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

afterEach(() =>
  asAdmin(async (client) => {
    for (const name of databases) await client.query(`DROP DATABASE IF EXISTS ${escapeIdentifier(name)} WITH (FORCE)`);
    databases.clear();
  }),
);

afterAll(() =>
  asAdmin(async (client) => {
    for (const role of roles) await client.query(`DROP ROLE IF EXISTS ${escapeIdentifier(role)}`);
  }),
);

async function state(): Promise<unknown> {
  return asAdmin(async (client) => {
    const text = `SELECT
      (SELECT array_agg(nspname || nspowner || coalesce(nspacl::text, '') ORDER BY oid) FROM pg_namespace
        WHERE nspname NOT LIKE 'pg_%') AS schemas,
      (SELECT array_agg(rolpassword ORDER BY oid) FROM pg_authid WHERE rolname = ANY ($1)) AS roles,
      (SELECT datacl::text FROM pg_database WHERE datname = current_database()) AS access`;
    return (await client.query(text, [plan.schemas.map((each) => each.role)])).rows[0];
  }, plan.database);
}

function at(index: number, urls: Record<string, string>): { url: string; schema: string } {
  const schema = plan.schemas[index]?.schema ?? '';
  return { url: urls[schema] ?? '', schema };
}

it('each role owns its schema, reads it by its URL, and cannot read the other', async () => {
  const urls = await provision(plan);
  const one = openDatabase(at(0, urls));
  const two = openDatabase(at(1, urls));
  await one.query('CREATE TABLE secret (id int)');
  await one.query('CREATE TEMPORARY TABLE loading (id int)');
  expect(await one.query('SELECT * FROM secret')).toEqual([]);
  const intrusion = two.query(`SELECT * FROM ${escapeIdentifier(one.schema)}.secret`);
  await expect(intrusion).rejects.toMatchObject({ code: '42501' });
  await expect(two.query('CREATE TABLE public.mine (id int)')).rejects.toMatchObject({ code: '42501' });
  await expect(two.query('CREATE SCHEMA mine')).rejects.toMatchObject({ code: '42501' });
  await Promise.all([one.close(), two.close()]);
});

it('a second run, or several concurrent runs, change nothing', async () => {
  const first = await provision(plan);
  const before = await state();
  const again = await Promise.all([provision(plan), provision(plan), provision(plan)]);
  expect(again).toEqual([first, first, first]);
  expect(await state()).toEqual(before);
});

it('several concurrent first runs create everything once', async () => {
  const [one, other] = await Promise.all([provision(plan), provision(plan)]);
  expect(one).toEqual(other);
  const made = await state();
  await provision(plan);
  expect(await state()).toEqual(made);
});

it('a different password replaces the old one, which is refused', async () => {
  const before = at(1, await provision(plan));
  const schemas = plan.schemas.map((each) => ({ ...each, password: `${each.password}, new` }));
  const after = at(1, await provision({ ...plan, schemas }));
  const database = openDatabase(after);
  expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await database.close();
  const old = openDatabase(before);
  await expect(old.query('SELECT 1')).rejects.toMatchObject({ code: '28P01' });
  await old.close();
});

it('a role of another database cannot connect', async () => {
  const urls = await provision(plan);
  const stranger = { schema: 'three', role: `${plan.database}_three`, password: 'c' };
  roles.add(stranger.role);
  const elsewhere = `${plan.database}_elsewhere`;
  databases.add(elsewhere);
  await provision({ adminUrl, database: elsewhere, schemas: [stranger] });
  const url = new URL(at(0, urls).url);
  url.username = encodeURIComponent(stranger.role);
  url.password = stranger.password;
  const database = openDatabase({ url: url.href, schema: 'three' });
  await expect(database.query('SELECT 1')).rejects.toMatchObject({ code: '42501' });
  await database.close();
});

it('a member has the rights of the other role, and not the other way round', async () => {
  const [one, two] = plan.schemas.map((each) => each.role);
  const urls = await provision({ ...plan, members: [{ role: one ?? '', of: two ?? '' }] });
  const member = openDatabase(at(0, urls));
  const owner = openDatabase(at(1, urls));
  await owner.query('CREATE TABLE jobs (id int)');
  await member.query(`INSERT INTO ${owner.schema}.jobs VALUES (1)`);
  expect(await owner.query('SELECT id FROM jobs')).toEqual([{ id: 1 }]);
  await member.query('CREATE TABLE own (id int)');
  const intrusion = owner.query(`SELECT * FROM ${escapeIdentifier(member.schema)}.own`);
  await expect(intrusion).rejects.toMatchObject({ code: '42501' });
  await Promise.all([member.close(), owner.close()]);
});

it('an administrator who is not a superuser suffices', async () => {
  const name = `${plan.database}_admin`;
  roles.add(name);
  await asAdmin((client) =>
    client.query(`CREATE ROLE ${escapeIdentifier(name)} LOGIN CREATEROLE CREATEDB PASSWORD 'a'`),
  );
  const url = databaseUrl(adminUrl, 'postgres', { user: name, password: 'a' });
  await provision({ ...plan, adminUrl: url });
  const urls = await provision({ ...plan, adminUrl: url });
  const database = openDatabase(at(0, urls));
  await database.query('CREATE TABLE t (id int)');
  await database.close();
});

it('a password that clients could encode differently is refused', async () => {
  const schemas = plan.schemas.map((each) => ({ ...each, password: 'ключ' }));
  await expect(provision({ ...plan, schemas })).rejects.toThrow(/printable ASCII/);
});

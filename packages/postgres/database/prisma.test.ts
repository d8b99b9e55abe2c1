import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { freshDatabase, type TestDatabase } from '../../testing/database.ts';
import { openDatabase } from './database.ts';
import { sqlState } from './errors.ts';
import { prismaAdapter, prismaSql, unavailability } from './prisma.ts';

let home: TestDatabase;

beforeAll(async () => {
  home = await freshDatabase();
});

afterAll(() => home.drop());

it('Prisma and raw SQL use the same schema', async () => {
  const database = openDatabase({ url: home.url('ingest'), schema: 'ingest' });
  const adapter = await prismaAdapter(database).connect();
  try {
    const { rows } = await adapter.queryRaw({ sql: 'SELECT current_schema()::text', args: [], argTypes: [] });
    expect([adapter.getConnectionInfo().schemaName, rows]).toEqual(['ingest', [['ingest']]]);
    await adapter.dispose();
    expect(await database.query('SELECT 1::int8 AS one')).toEqual([{ one: 1 }]);
  } finally {
    await database.close();
  }
});

it('a time is the same instant for Prisma and raw SQL, whatever time zone and date style the database has', async () => {
  const admin = openDatabase({ url: home.adminUrl, schema: 'public', poolSize: 1 });
  const name = new URL(home.adminUrl).pathname.slice(1);
  await admin.query(
    `ALTER DATABASE ${name} SET timezone = 'Asia/Kathmandu'; ALTER DATABASE ${name} SET datestyle = 'German, DMY'`,
  );
  await admin.close();
  const database = openDatabase({ url: home.url('ingest'), schema: 'ingest' });
  const adapter = await prismaAdapter(database).connect();
  const instant = '2026-10-01T23:30:00.000Z';
  try {
    await database.query('CREATE TABLE told (at timestamptz)');
    const argTypes = [{ scalarType: 'datetime', dbType: 'TIMESTAMPTZ', arity: 'scalar' } as const];
    await adapter.executeRaw({ sql: 'INSERT INTO told VALUES ($1)', args: [instant], argTypes });
    const { rows } = await adapter.queryRaw({ sql: 'SELECT at FROM told', args: [], argTypes: [] });
    expect(Date.parse(String(rows[0]![0]))).toBe(Date.parse(instant));
    expect(await database.query('SELECT at FROM told')).toEqual([{ at: new Date(instant) }]);
  } finally {
    await adapter.dispose();
    await database.close();
  }
});

it('raw SQL in a Prisma transaction gets its values in order and returns int8 as a number', async () => {
  const heard: unknown[] = [];
  const sql = prismaSql({
    async $queryRawUnsafe<T>(text: string, ...values: unknown[]): Promise<T> {
      heard.push(text, ...values);
      return [{ count: 3n, name: 'a' }] as T;
    },
  });
  expect(await sql.query('SELECT $1, $2', [1, 'two'])).toEqual([{ count: 3, name: 'a' }]);
  expect(heard).toEqual(['SELECT $1, $2', 1, 'two']);
});

// As Prisma throws them.
function rawQueryFailed(cause: object): Error {
  const driverAdapterError = Object.assign(new Error('adapter'), { name: 'DriverAdapterError', cause });
  return Object.assign(new Error('Raw query failed.'), { code: 'P2010', meta: { driverAdapterError } });
}

it.each([
  ['between queries', Object.assign(new Error('Server has closed the connection.'), { code: 'P1017' })],
  ['during a query', rawQueryFailed({ kind: 'ConnectionClosed' })],
  ['by a server that stops', rawQueryFailed({ kind: 'postgres', originalCode: '57P01' })],
])('a connection lost %s is a Fault that says unavailable', async (_, error) => {
  const sql = prismaSql({ $queryRawUnsafe: () => Promise.reject(error) });
  await expect(sql.query('SELECT 1')).rejects.toMatchObject({ name: 'Fault', kind: 'unavailable', cause: error });
});

it('an error about a statement is thrown unchanged, with its SQLSTATE', async () => {
  const error = rawQueryFailed({ kind: 'UniqueConstraintViolation', originalCode: '23505' });
  const sql = prismaSql({ $queryRawUnsafe: () => Promise.reject(error) });
  await expect(sql.query('SELECT 1')).rejects.toBe(error);
  expect(sqlState(error)).toBe('23505');
});

it('a query of the client that finds no free connection is the same Fault, and any other error is unchanged', async () => {
  const { $allOperations } = unavailability.query;
  const failing = (error: Error) =>
    $allOperations({
      args: {},
      query: async () => {
        throw error;
      },
    });
  const full = Object.assign(new Error('Too many database connections opened.'), { code: 'P2037' });
  await expect(failing(full)).rejects.toMatchObject({ name: 'Fault', kind: 'unavailable', cause: full });
  const twice = Object.assign(new Error('Unique constraint failed.'), { code: 'P2002' });
  await expect(failing(twice)).rejects.toBe(twice);
  expect(await $allOperations({ args: 2, query: async (number) => number * 2 })).toBe(4);
});

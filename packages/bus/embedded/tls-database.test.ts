import { randomUUID } from 'node:crypto';
import { chown, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventType } from '@call-analysis/events';
import { migrate, openDatabase, provision, requireMigrated } from '@call-analysis/postgres';
import { type PostgresServer, startServer } from '@call-analysis/postgres/server';
import { newTraceparent } from '@call-analysis/runtime';
import { waitUntil } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { z } from 'zod';
import { newAuthority } from '../../rpc/test/certificates.ts';
import { openBus, migrateBus } from '../open.ts';
import { route } from '../port.ts';

const Happened = eventType('test.happened.v1', z.unknown());
const silent = { info() {}, warn() {}, error() {} };
const authority = newAuthority('Private authority');

let directory: string;
let server: PostgresServer;
let ca: string;
let another: string;

/** A PostgreSQL with a certificate from a private authority, as in a cluster. */
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tls-database-'));
  [ca, another] = [join(directory, 'ca.pem'), join(directory, 'another.pem')];
  await writeFile(ca, authority.ca);
  await writeFile(another, newAuthority('Another authority').ca);
  server = await startServer({ directory: join(directory, 'postgres'), ephemeral: true, log: () => {} });
  const admin = new Client({ connectionString: server.adminUrl });
  await admin.connect();
  try {
    const { rows } = await admin.query<{ folder: string }>(`SELECT current_setting('data_directory') AS folder`);
    const folder = rows[0]!.folder;
    const { uid, gid } = await stat(folder);
    const { cert, key } = authority.issue(['localhost']);
    for (const [name, text] of [
      ['server.crt', cert],
      ['server.key', key],
    ] as const) {
      await writeFile(join(folder, name), text, { mode: 0o600 });
      await chown(join(folder, name), uid, gid);
    }
    await admin.query('ALTER SYSTEM SET ssl = on');
    await admin.query('SELECT pg_reload_conf()');
    await waitUntil(async () => (await admin.query<{ ssl: string }>('SHOW ssl')).rows[0]?.ssl === 'on');
  } finally {
    await admin.end();
  }
}, 240_000);
afterAll(async () => {
  await server?.stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
});

/** The URL as an operator writes it. */
function urlWith(parameters: Record<string, string>, host = 'localhost'): string {
  const url = new URL(server.adminUrl);
  url.hostname = host;
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

async function migrations(): Promise<string> {
  const folder = join(directory, randomUUID());
  await mkdir(join(folder, '1_first'), { recursive: true });
  await writeFile(join(folder, '1_first', 'migration.sql'), 'CREATE TABLE kept (id int)');
  return folder;
}

describe('a PostgreSQL with a certificate from a private authority', () => {
  it('serves migrations, pools and the bus when the URL names the authority', async () => {
    const url = urlWith({ sslmode: 'verify-full', sslrootcert: ca });
    const folder = await migrations();
    await migrate({ url, schema: 'safe', folder });
    const database = openDatabase({ url, schema: 'safe' });
    await requireMigrated(database, folder, 'migrate');
    // A connection that has just been opened has no user and no TLS yet.
    const safe = `SELECT bool_and(ssl) AS safe FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
      WHERE client_addr IS NOT NULL AND usename IS NOT NULL`;
    await migrateBus({ url, schema: 'bus' });
    const bus = await openBus({ transport: 'embedded', url, schema: 'bus' }, { name: 'test', log: silent });
    try {
      const received: string[] = [];
      const handle = async (events: readonly { id: string }[]) => void received.push(...events.map(({ id }) => id));
      await bus.subscribe({ consumer: 'test.consumer', routes: [route({ event: Happened, handle })] });
      const [id, subject, firmuuid] = [randomUUID(), randomUUID(), randomUUID()];
      const time = new Date().toISOString();
      const event = {
        id,
        source: 'test',
        type: Happened.type,
        time,
        subject,
        firmuuid,
        priority: 0,
        traceparent: newTraceparent(),
        data: {},
      };
      await database.transaction((tx) => bus.publish(tx, [event]));
      await waitUntil(() => received.length === 1);
      expect(await database.query(safe)).toEqual([{ safe: true }]);
    } finally {
      await bus.close();
      await database.close();
    }
  });

  it.each([
    [
      'is not named',
      () => urlWith({ sslmode: 'require' }),
      /signed by an unknown authority .*\?sslmode=verify-full&sslrootcert=/,
    ],
    ['is another', () => urlWith({ sslmode: 'verify-full', sslrootcert: another }), /signed by an unknown authority/],
    [
      'has issued the certificate for another host',
      () => urlWith({ sslmode: 'verify-full', sslrootcert: ca }, '127.0.0.1'),
      /another name than the host in DATABASE_URL/,
    ],
    [
      'is in a missing file',
      () => urlWith({ sslmode: 'verify-full', sslrootcert: '/no/ca.pem' }),
      /^DATABASE_URL names \/no\/ca\.pem, which cannot be read \(ENOENT\)\.$/,
    ],
  ])('is refused with one sentence when the authority %s', async (_, url, sentence) => {
    const refusal = { name: 'StartFault', message: expect.stringMatching(sentence) };
    await expect(migrate({ url: url(), schema: 'refused', folder: await migrations() })).rejects.toMatchObject(refusal);
    await expect(provision({ adminUrl: url(), database: 'refused', schemas: [] })).rejects.toMatchObject(refusal);
    const database = openDatabase({ url: url(), schema: 'refused' });
    try {
      await expect(requireMigrated(database, await migrations(), 'migrate')).rejects.toMatchObject(refusal);
    } finally {
      await database.close();
    }
  });
});

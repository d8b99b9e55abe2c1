import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '@call-analysis/runtime';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { waitUntil } from '../../testing/index.ts';
import { openDatabase } from '../database/database.ts';
import { type PostgresServer, startServer } from './server.ts';

let seed: string;
let directory: string;
let servers: PostgresServer[];

beforeAll(async () => {
  seed = await mkdtemp(join(tmpdir(), 'seed-'));
  await (await startServer({ directory: seed, ephemeral: true, log: () => {} })).stop();
});

afterAll(() => rm(seed, { recursive: true }));

beforeEach(async () => {
  // As `mktemp -d` makes it: for root alone when root runs the tests.
  directory = join(await mkdtemp(join(tmpdir(), 'server-')), 'postgres');
  servers = [];
});

afterEach(async () => {
  await Promise.allSettled(servers.map((each) => each.stop()));
  await rm(join(directory, '..'), { recursive: true, force: true, maxRetries: 5 });
});

async function start(ephemeral = true): Promise<PostgresServer> {
  const server = await startServer({ directory, ephemeral, log: () => {} });
  servers.push(server);
  return server;
}

/** A server on a copy of a cluster, which is made sooner than a new one. */
async function startSeeded(ephemeral = true): Promise<PostgresServer> {
  await copy(seed, directory);
  return start(ephemeral);
}

async function copy(from: string, to: string): Promise<void> {
  // Unlike Node's own, it leaves files to whom they belong.
  const [code] = await once(spawn('cp', ['-a', from, to]), 'exit');
  expect(code).toBe(0);
}

async function ask(server: PostgresServer, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: server.adminUrl });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

function pidFile(): string {
  return join(directory, 'cluster', 'postmaster.pid');
}

describe('a server', () => {
  it('keeps committed data from one start to the next, safe on disk', async () => {
    const first = await start(false);
    await ask(first, 'CREATE TABLE kept AS SELECT 7 AS value');
    await first.stop();
    await first.stop();
    expect(isAlive(first.pid)).toBe(false);
    const second = await start(false);
    expect(second.adopted).toBe(false);
    expect(await ask(second, 'SELECT value FROM kept')).toEqual([{ value: 7 }]);
    const settings = `SELECT current_setting('fsync') AS fsync, current_setting('data_checksums') AS checksums,
      current_setting('server_encoding') AS encoding,
      (SELECT datlocale FROM pg_database WHERE datname = 'postgres') AS locale`;
    expect(await ask(second, settings)).toEqual([
      { fsync: 'on', checksums: 'on', encoding: 'UTF8', locale: 'C.UTF-8' },
    ]);
  });

  it('takes an eighth of the memory at most for its pages, and 2 GiB at most', async () => {
    const server = await start(false);
    const [row] = await ask(server, `SELECT pg_size_bytes(current_setting('shared_buffers')) AS bytes`);
    const mib = Number(row!['bytes']) / 2 ** 20;
    expect(mib).toBeGreaterThan(16);
    expect(mib).toBeLessThanOrEqual(Math.min(2_048, Math.ceil(totalmem() / 8 / 2 ** 20)));
  });

  it('is connected to without TLS, even if the environment configures TLS for other servers', async () => {
    process.env['PGSSLMODE'] = 'require';
    try {
      const server = await startSeeded();
      expect(await ask(server, 'SELECT 1 AS answer')).toEqual([{ answer: 1 }]);
      expect((await startServer({ directory, ephemeral: true, log: () => {} })).adopted).toBe(true);
    } finally {
      delete process.env['PGSSLMODE'];
    }
  });

  it('accepts no connection without the password, which only its owner can read', async () => {
    const server = await startSeeded();
    const url = new URL(server.adminUrl);
    url.password = 'guess';
    await expect(new Client({ connectionString: url.href }).connect()).rejects.toMatchObject({ code: '28P01' });
    expect((await stat(join(directory, 'cluster', 'superuser-password'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(directory, 'cluster'))).mode & 0o777).toBe(0o700);
  });

  it('writes no statements and no values of rows to its log', async () => {
    const server = await startSeeded();
    await ask(server, 'CREATE TABLE people (name text PRIMARY KEY)');
    const insert = "INSERT INTO people VALUES ('Aigul')";
    await ask(server, insert);
    await expect(ask(server, insert)).rejects.toMatchObject({ code: '23505' });
    await expect(ask(server, "SELECT 'Aigul'::int")).rejects.toMatchObject({ code: '22P02' });
    await server.stop();
    expect(await readFile(join(directory, 'postgres.log'), 'utf8')).not.toMatch(/Aigul/);
  });
});

describe('after the death of the server', () => {
  it('listeners are called, a restart uses the same port, and pools continue', async () => {
    const server = await startSeeded(false);
    let deaths = 0;
    server.onDeath(() => deaths++);
    const database = openDatabase({ url: server.adminUrl, schema: 'public', poolSize: 3 });
    await database.query('CREATE TABLE kept AS SELECT 7 AS value');
    const busy = database.query('SELECT pg_sleep(20)');
    const { pid } = server;
    process.kill(pid, 'SIGKILL');
    await expect(busy).rejects.toMatchObject({ kind: 'unavailable' });
    await waitUntil(() => deaths === 1);
    await expect(database.query('SELECT 1')).rejects.toMatchObject({ kind: 'unavailable' });
    await Promise.all([server.restart(), server.restart()]);
    expect(server.pid).not.toBe(pid);
    expect(await database.query('SELECT value FROM kept')).toEqual([{ value: 7 }]);
    process.kill(server.pid, 'SIGKILL');
    await waitUntil(() => deaths === 2);
    await database.close();
  });

  it('a server that is killed while its processes are busy starts again', async () => {
    const server = await startSeeded();
    const client = new Client({ connectionString: server.adminUrl });
    client.on('error', () => {});
    await client.connect();
    // Computes without ever waiting, so it notices the death late.
    const busy = client.query('SELECT count(*) FROM generate_series(1, 3000000) a').catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 50));
    process.kill(server.pid, 'SIGKILL');
    await waitUntil(() => !isAlive(server.pid));
    const next = await start();
    expect(await ask(next, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await busy;
    await client.end().catch(() => {});
  });

  it('listeners are not called when it was stopped', async () => {
    const server = await startSeeded();
    let deaths = 0;
    server.onDeath(() => deaths++);
    await server.stop();
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(deaths).toBe(0);
    await expect(server.restart()).rejects.toThrow(/stopped/);
  });
});

describe('a server left behind by a process that was killed', () => {
  async function leave(): Promise<number> {
    const program = `
      import { startServer } from ${JSON.stringify(new URL('./server.ts', import.meta.url).href)};
      const server = await startServer({ directory: process.argv[1], ephemeral: true, log() {} });
      console.log(String(server.pid));
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program, directory], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    child.kill('SIGKILL');
    await once(child, 'exit');
    return Number(line.toString());
  }

  it('is adopted, monitored and stopped like a new one', async () => {
    await copy(seed, directory);
    const pid = await leave();
    const server = await start();
    expect([server.adopted, server.pid]).toEqual([true, pid]);
    let deaths = 0;
    server.onDeath(() => deaths++);
    process.kill(server.pid, 'SIGKILL');
    await waitUntil(() => deaths === 1);
    await server.restart();
    expect(await ask(server, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await server.stop();
    expect(isAlive(server.pid)).toBe(false);
  });

  it('is also adopted by the second of two calls', async () => {
    const first = await startSeeded();
    const second = await start();
    expect([second.adopted, second.pid, second.adminUrl]).toEqual([true, first.pid, first.adminUrl]);
    await second.stop();
    // It is a child of this process, which has not yet been notified of its end.
    await waitUntil(() => !isAlive(first.pid));
  });

  it('is not adopted for a copy of its directory', async () => {
    const original = await startSeeded();
    await ask(original, 'CHECKPOINT');
    const place = directory;
    directory = `${place}-copy`;
    await copy(place, directory);
    const twin = await start();
    expect([twin.adopted, twin.port === original.port]).toEqual([false, false]);
  });
});

describe('after an interrupted start', () => {
  it('an incomplete cluster is created again', async () => {
    const gone = spawn(process.execPath, ['-e', '']);
    await once(gone, 'exit');
    const draft = join(directory, `cluster.new-${gone.pid}`);
    await mkdir(join(draft, 'base'), { recursive: true });
    await writeFile(join(draft, 'PG_VERSION'), '18\n');
    await writeFile(`${draft}.password`, 'left over');
    const server = await start();
    expect(await ask(server, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect((await readdir(directory)).toSorted()).toEqual(['cluster', 'postgres.log']);
  });

  it.each([
    ['a dead process', async () => 999_999_999],
    ['another program', async () => process.pid],
  ])('a pid file that names %s is no obstacle', async (_, pid) => {
    const first = await startSeeded();
    const written = await readFile(pidFile(), 'utf8');
    await first.stop();
    await writeFile(pidFile(), written.replace(/^\d+/, String(await pid())));
    const second = await start();
    expect(second.adopted).toBe(false);
    expect(await ask(second, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('a lock file that another server has just created, still without content, is waited for', async () => {
    await (await startSeeded()).stop();
    await writeFile(pidFile(), '');
    const starting = start();
    await waitUntil(async () => /lock file .* is empty/.test(await readFile(join(directory, 'postgres.log'), 'utf8')));
    await rm(pidFile());
    expect(await ask(await starting, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('several concurrent first starts create one cluster and one server', async () => {
    const all = await Promise.all([start(), start()]);
    expect(new Set(all.map((each) => each.pid)).size).toBe(1);
  });
});

describe('one sentence explains', () => {
  it('a folder with other content', async () => {
    await mkdir(join(directory, 'cluster'), { recursive: true });
    await writeFile(join(directory, 'cluster', 'thesis.txt'), 'mine');
    await expect(start()).rejects.toThrow(`${directory}/cluster is not empty and is not a PostgreSQL database.`);
    await writeFile(join(directory, 'cluster', 'PG_VERSION'), '17\n');
    await expect(start()).rejects.toThrow('was created by PostgreSQL 17, and this is PostgreSQL 18');
    expect(await readFile(join(directory, 'cluster', 'thesis.txt'), 'utf8')).toBe('mine');
  });

  it('a file instead of the folder', async () => {
    await writeFile(directory, '');
    await expect(start()).rejects.toThrow(`The database cannot be kept in ${directory}: it is not a folder.`);
  });

  it('a lost password', async () => {
    await copy(seed, directory);
    await rm(join(directory, 'cluster', 'superuser-password'));
    await expect(start()).rejects.toThrow(/password cannot be read from/);
  });

  it('a cluster that PostgreSQL cannot start', async () => {
    await copy(seed, directory);
    await rm(join(directory, 'cluster', 'global', 'pg_control'));
    await expect(start()).rejects.toThrow(/PostgreSQL did not start in .*cluster: .*pg_control/);
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLog } from '@call-analysis/runtime';
import { bareEnvironment } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openDataDirectory } from './data-directory.ts';
import { readSettings, start } from './start.ts';
import { type Client, newFirm } from './test/client/new-firm.ts';
import { eventually, fetchWhenAvailable } from './test/client/retry.ts';
import { admin, startCommand, postgresOf, run } from './test/system/command.ts';
import { startServiceHere } from './test/system/service-here.ts';
import { type ServiceProcess, startedDirectory, startService } from './test/system/service-process.ts';

let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'call-analysis-life-'));
});
afterAll(async () => {
  await rm(scratch, { recursive: true, force: true });
});

/** Starts the service where a refusal is expected, at the default log level, so that the output is what users see. */
function refusedStart(variables: Record<string, string>) {
  return run('main.ts', [], { PORT: '0', ...variables });
}

/** The refusal of a start in this process. As a process, it would print the message and exit with 1. */
function refusalOf(variables: Record<string, string>): Promise<unknown> {
  const settings = readSettings({ PORT: '0', ...variables });
  return start(settings, { log: createLog({ name: 'test', level: 'silent' }) }).then(
    () => new Error('the service started'),
    (error: unknown) => error,
  );
}

/** Runs a pipeline of a shell, which ends when all of its programs have ended. */
async function piped(pipeline: string, dataDirectory: string): Promise<{ stdout: string }> {
  const main = fileURLToPath(new URL('./main.ts', import.meta.url));
  const shell = spawn('/bin/sh', ['-c', pipeline], {
    env: { ...bareEnvironment(), NODE: process.execPath, MAIN: main, DATA_DIR: dataDirectory, PORT: '0' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let stdout = '';
  shell.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  await once(shell, 'close');
  return { stdout };
}

/** The lines of standard error that are not log lines. */
function sentences(stderr: string): string[] {
  return stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
}

/** A name with many scripts, and with characters that shells, URLs and SQL treat specially. */
const ODD_NAME = 'Маълумотлар 数据 №1 50% #?&=+;:\'"$HOME';

describe('a running service', () => {
  const DATA_DIR = () => join(scratch, ODD_NAME);
  /** Identifies a version of a file. It changes when the file is replaced. */
  async function fileOf(...path: string[]): Promise<string> {
    const { ino, mtimeNs } = await stat(join(DATA_DIR(), ...path), { bigint: true });
    return `${ino} of ${mtimeNs}`;
  }
  const database = () => fileOf('postgres', 'cluster', 'PG_VERSION');

  let first: { readonly client: Client; readonly database: string };

  it('is the only one of two first starts at the same time: it has the stored secrets, and the other exits and names it', async () => {
    const both = [1, 2].map(() => startCommand('main.ts', [], { DATA_DIR: DATA_DIR(), PORT: '0' }));
    const said = both.map(({ child }) => {
      let text = '';
      child.stdout!.on('data', (chunk: string) => (text += chunk));
      return () => text;
    });
    const loser = await Promise.race(both.map(async ({ child, outcome }) => ({ child, ...(await outcome) })));
    const index = both.findIndex(({ child }) => child !== loser.child);
    const winner = both[index]!;
    expect(loser).toMatchObject({ code: 1, stdout: '' });
    const [sentence, ...others] = sentences(loser.stderr);
    expect(sentence?.startsWith(`${DATA_DIR()} is in use by process ${winner.child.pid}`)).toBe(true);
    expect(others).toEqual([]);
    const [, url] = await eventually(() => /^ready\s+(\S+)/m.exec(said[index]!()));
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const client = await newFirm({ url: url!, administration: { DATA_DIR: DATA_DIR() } });
    expect((await client.request('GET', '/api/v1/calls')).status).toBe(200);
    expect(await client.upload('client_phone_number\n')).toContain(client.userUuid);
    first = { client, database: await database() };
    winner.child.kill('SIGTERM');
    expect((await winner.outcome).code).toBe(0);
    expect(await postgresOf(DATA_DIR())).toBeNull();
  });

  // The next four tests are about one process: the last one kills it.
  let service: ServiceProcess;

  it('keeps its database and data when it is restarted', async () => {
    service = await startService(DATA_DIR());
    expect(await database()).toBe(first.database);
    const headers = { authorization: `Bearer ${first.client.token}` };
    expect((await fetchWhenAvailable(`${service.url}/api/v1/calls`, { headers })).status).toBe(200);
  });

  it('locks its data directory: a second start is refused and names it, and the first keeps serving', async () => {
    expect(await refusalOf({ DATA_DIR: DATA_DIR() })).toMatchObject({
      name: 'LockedFault',
      message: `${DATA_DIR()} is in use by process ${service.pid}, which serves ${service.url}. Stop it, or set DATA_DIR to another folder.`,
    });
    expect((await fetchWhenAvailable(`${service.url}/readyz`)).status).toBe(200);
  });

  it('recovers when PostgreSQL is killed, and still has the lock of its data directory', async () => {
    const client = await newFirm(service);
    const before = await postgresOf(DATA_DIR());
    const holder = await fileOf('holder.json');
    process.kill(before!, 'SIGKILL');
    // Until its processes notice the death, they still answer.
    await eventually(async () => ![null, before].includes(await postgresOf(DATA_DIR())));
    await eventually(async () => (await client.request('GET', '/api/v1/calls')).status === 200, 100);
    await eventually(
      async () => (await client.request('POST', '/api/v1/calls/upload', { metadata_filename: 'a.csv' })).status === 200,
    );
    // The file is replaced once the lock is acquired again. Until then a second start could acquire it first.
    await eventually(async () => (await fileOf('holder.json')) !== holder);
    const second = await refusedStart({ DATA_DIR: DATA_DIR() });
    expect(second).toMatchObject({ code: 1, stdout: '' });
    expect(sentences(second.stderr)).toEqual([expect.stringContaining(`is in use by process ${service.pid}`)]);
    expect(second.stderr).not.toContain('"msg"');
  });

  it('that was killed restarts on the PostgreSQL server that is still running, with all its data, and exits after SIGINT as after SIGTERM', async () => {
    const client = await newFirm(service);
    const postgres = await postgresOf(DATA_DIR());
    const ended = once(service.child, 'exit');
    service.child.kill('SIGKILL');
    await ended;
    expect(await postgresOf(DATA_DIR())).toBe(postgres);
    const next = await startService(DATA_DIR());
    expect(await postgresOf(DATA_DIR())).toBe(postgres);
    const answer = await fetchWhenAvailable(`${next.url}/api/v1/calls`, {
      headers: { authorization: `Bearer ${client.token}` },
    });
    expect(answer.status).toBe(200);
    const nextEnded = once(next.child, 'exit');
    next.child.kill('SIGINT');
    expect(await nextEnded).toEqual([0, null]);
    expect(await postgresOf(DATA_DIR())).toBeNull();
  });

  it('that is stopped while it starts leaves no PostgreSQL running', async () => {
    const { child, outcome } = startCommand('main.ts', [], { DATA_DIR: DATA_DIR(), PORT: '0' });
    await eventually(() => postgresOf(DATA_DIR()), 5);
    child.kill('SIGTERM');
    expect(await outcome).toMatchObject({ code: 0 });
    expect(await postgresOf(DATA_DIR())).toBeNull();
  });

  it.each([
    ['the ready line', 'exec', /^ready  http/],
    ['what npm writes before', 'echo before; exec', /^before\n$/],
  ])('does not outlive a reader that ends after %s', async (_, command, read) => {
    const { stdout } = await piped(`{ ${command} "$NODE" "$MAIN"; } | head -1`, DATA_DIR());
    expect(stdout).toMatch(read);
    expect(await postgresOf(DATA_DIR())).toBeNull();
  });
});

describe('npm start', () => {
  it('passes SIGTERM on to the service, and exits with 0 when it has ended', async () => {
    const directory = await startedDirectory(join(scratch, 'npm'));
    // Without the script before it, which installs dependencies.
    const npm = spawn('npm', ['start', '--ignore-scripts'], {
      cwd: fileURLToPath(new URL('../../', import.meta.url)),
      env: { ...bareEnvironment(), DATA_DIR: directory, PORT: '0' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const ended = once(npm, 'exit');
    const ready = new Promise<void>((resolve, reject) => {
      npm.stdout.setEncoding('utf8').on('data', (text: string) => /^ready /m.test(text) && resolve());
      npm.stdout.once('end', () => reject(new Error('npm start ended before it was ready')));
    });
    try {
      await ready;
      npm.kill('SIGTERM');
      expect(await ended).toEqual([0, null]);
      expect(await postgresOf(directory)).toBeNull();
    } finally {
      // A service that were still running ends without a reader.
      npm.stdout.destroy();
    }
  });
});

describe('a start that fails', () => {
  it('reports that its port is in use and leaves no PostgreSQL running', async () => {
    const DATA_DIR = await startedDirectory(join(scratch, 'port'));
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const PORT = String((other.address() as AddressInfo).port);
    const refusal = await refusalOf({ DATA_DIR, PORT });
    other.close();
    expect(refusal).toMatchObject({
      name: 'StartFault',
      message: `Port ${PORT} is in use. Stop what listens there, or set PORT to another one.`,
    });
    expect(await postgresOf(DATA_DIR)).toBeNull();
  });

  it.each([
    ['is a file', 'file'],
    ['is below a file', 'file/below'],
    ['is where nothing can be written', '/proc/call-analysis'],
    ['has a name that is too long', 'n'.repeat(300)],
  ])('says that the data directory cannot be used when it %s', async (_, path) => {
    await writeFile(join(scratch, 'file'), '');
    const DATA_DIR = path.startsWith('/') ? path : join(scratch, path);
    expect(await refusalOf({ DATA_DIR })).toMatchObject({
      name: 'StartFault',
      message: expect.stringContaining(`The data directory ${DATA_DIR} cannot be used: `),
    });
  });

  it('refuses a database folder that contains something else, in one sentence', async () => {
    const DATA_DIR = join(scratch, 'foreign');
    await mkdir(join(DATA_DIR, 'postgres', 'cluster'), { recursive: true });
    await writeFile(join(DATA_DIR, 'postgres', 'cluster', 'letter.txt'), 'not a database');
    expect(await refusalOf({ DATA_DIR })).toMatchObject({
      name: 'StartFault',
      message: expect.stringMatching(/^[^\n]* is not empty and is not a PostgreSQL database[^\n]*$/),
    });
    expect(await readdir(join(DATA_DIR, 'postgres', 'cluster'))).toEqual(['letter.txt']);
  });
});

describe('a data directory whose path is too deep for a socket', () => {
  it.each([
    ['', false],
    [', also when the path of the temporary directory is', true],
  ])('serves%s', async (_, deepTemporary) => {
    const directory = join(scratch, 'deep/'.repeat(40), 'data');
    if (!deepTemporary) await startedDirectory(directory);
    const usual = process.env['TMPDIR'];
    if (deepTemporary) process.env['TMPDIR'] = join(scratch, 'deep/'.repeat(40));
    try {
      const service = await startServiceHere(directory);
      expect(await admin(service.administration, 'firm', 'list')).toEqual([]);
      await service.stop({ keep: true });
    } finally {
      if (usual === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = usual;
    }
    expect(await postgresOf(directory)).toBeNull();
    // The folder of sockets is outside the data directory.
    const { socket } = openDataDirectory(directory);
    const folder = dirname(socket('any').slice('unix:'.length));
    for (const each of new Set([folder, join('/tmp', basename(folder))]))
      await rm(each, { recursive: true, force: true });
  });
});

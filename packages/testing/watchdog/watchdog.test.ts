import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { afterEach, expect, it } from '@jest/globals';
import { makeDirectory } from '../servers/process.ts';
import { waitUntil } from '../wait-until.ts';

let left: number | null = null;

afterEach(() => {
  if (left !== null && isAlive(left)) process.kill(left, 'SIGKILL');
  left = null;
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Runs a test run's part in a process of its own, which is killed once it has printed a line. */
async function lineOfOneKilled(
  program: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ line: string; kill(): void }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { line, kill: () => child.kill('SIGKILL') };
}

it('a run that is killed leaves neither a server nor a file', async () => {
  const { TEST_DATABASE_URL: _, ...env } = process.env;
  const run = await lineOfOneKilled(
    `
    import start from ${JSON.stringify(new URL('../jest/start.ts', import.meta.url).href)};
    import pg from ${JSON.stringify(import.meta.resolve('pg'))};
    await start();
    const client = new pg.Client({ connectionString: process.env.TEST_DATABASE_URL });
    await client.connect();
    const { rows } = await client.query("SELECT current_setting('data_directory') AS cluster");
    console.log(rows[0].cluster);`,
    env,
  );
  expect(existsSync(`${run.line}/postmaster.pid`)).toBe(true);
  run.kill();
  await waitUntil(() => !existsSync(run.line.replace(/\/cluster$/, '')));
}, 240_000);

it('nor a server of one test, started again and stopped in its tracks', async () => {
  const directory = await makeDirectory('left');
  // The folder among its arguments is what the watchdog knows it by.
  const run = await lineOfOneKilled(`
    import { processRunner } from ${JSON.stringify(new URL('../servers/process.ts', import.meta.url).href)};
    const directory = ${JSON.stringify(directory)};
    const args = ['-e', 'setInterval(() => {}, 1000)', directory];
    const runner = processRunner({ directory, command: process.execPath, args });
    await runner.start();
    await runner.signal('SIGKILL');
    await runner.start();
    await runner.signal('SIGSTOP');
    console.log(String(runner.pid()));`);
  left = Number(run.line);
  expect([isAlive(left), await readFile(`${directory}/server.pid`, 'utf8')]).toEqual([true, `${left}\n`]);
  run.kill();
  await waitUntil(() => !isAlive(Number(run.line)) && !existsSync(directory));
});

it('nor any of several processes, each named by a file of a folder', async () => {
  const directory = await makeDirectory('left');
  const run = await lineOfOneKilled(`
    import { spawn } from 'node:child_process';
    import { mkdirSync, writeFileSync } from 'node:fs';
    import { startWatchdog } from ${JSON.stringify(new URL('./start-watchdog.ts', import.meta.url).href)};
    const directory = ${JSON.stringify(directory)};
    mkdirSync(directory + '/pids');
    startWatchdog({ directory, pidFile: 'pids', signal: 'SIGKILL' });
    const start = () => spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', directory], { stdio: 'ignore' }).pid;
    const pids = [start(), start()];
    for (const pid of pids) writeFileSync(directory + '/pids/' + pid, String(pid));
    console.log(pids.join());
    setInterval(() => {}, 1000);`);
  const pids = run.line.split(',').map(Number);
  expect(pids.map(isAlive)).toEqual([true, true]);
  run.kill();
  await waitUntil(() => !pids.some(isAlive) && !existsSync(directory));
});

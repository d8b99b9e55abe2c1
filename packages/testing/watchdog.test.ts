import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { waitUntil } from './wait-until.ts';

it('a run that is killed leaves neither a server nor a file', async () => {
  const program = `
    import start from ${JSON.stringify(new URL('./start.ts', import.meta.url).href)};
    import pg from ${JSON.stringify(import.meta.resolve('pg'))};
    await start();
    const client = new pg.Client({ connectionString: process.env.TEST_DATABASE_URL });
    await client.connect();
    const { rows } = await client.query("SELECT current_setting('data_directory') AS cluster");
    console.log(rows[0].cluster);`;
  const { TEST_DATABASE_URL: _, ...env } = process.env;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const cluster = line.toString().trim();
  expect(existsSync(`${cluster}/postmaster.pid`)).toBe(true);
  child.kill('SIGKILL');
  await waitUntil(() => !existsSync(cluster.replace(/\/cluster$/, '')));
});

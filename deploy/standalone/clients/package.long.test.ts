import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../../../', import.meta.url));

const code = `import { Client, Unreachable, verifyWebhook, type Schemas } from '@call-analysis/client';
const client = new Client({ url: 'http://127.0.0.1:1', apiKey: 'none', retries: 0 });
const score = (call: Schemas['ListedCall']): number | null => call.score;
// @ts-expect-error: there is no such path.
void client.api.GET('/api/v1/nothing').catch(() => {});
try {
  for await (const call of client.calls({ status: ['completed'] })) console.log(score(call));
} catch (error) {
  console.log(error instanceof Unreachable, typeof verifyWebhook);
}
`;

// Installs from the registry, so it is part of the long run.
describe('the packed client in a new project', () => {
  let folder: string;
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'client-package-'));
    const built = join(folder, 'built');
    execFileSync(process.execPath, [join(root, 'packages/client/build/package.ts'), built], { stdio: 'inherit' });
    run('npm', 'pack', '--silent', built);
    await rm(built, { recursive: true });
    const [archive = ''] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
    await writeFile(join(folder, 'package.json'), '{ "type": "module", "private": true }');
    run('npm', 'install', '--silent', '--no-audit', '--no-fund', `./${archive}`);
    await writeFile(join(folder, 'main.ts'), code);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('runs', () => {
    expect(run(process.execPath, 'main.ts')).toBe('true function\n');
  });

  it('has types, also without those of Node', () => {
    const options = [
      '--strict',
      '--noEmit',
      '--module',
      'nodenext',
      '--target',
      'es2022',
      '--lib',
      'es2023,dom,dom.iterable,dom.asynciterable',
    ];
    expect(run(join(root, 'node_modules/.bin/tsc'), ...options, 'main.ts')).toBe('');
  });
});

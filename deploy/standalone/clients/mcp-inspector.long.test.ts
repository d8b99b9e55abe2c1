import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newFirm, type Client as User } from '../test/client/new-firm.ts';
import { type ServiceProcess, startService } from '../test/system/service-process.ts';

const VERSION = '2.12.0';
const root = fileURLToPath(new URL('../../../', import.meta.url));

let service: ServiceProcess;
let user: User;
let folder: string;

/** Runs the inspector without a page, with the configuration number `which` of docs/mcp.md. */
async function inspect(which: number, ...words: string[]): Promise<Record<string, unknown>> {
  const page = await readFile(join(root, 'docs/mcp.md'), 'utf8');
  const [, block = ''] = [...page.matchAll(/```json\n(.*?)```/gs)][which] ?? [];
  const file = join(folder, `configuration-${which}.json`);
  const filled = block
    .replaceAll('http://127.0.0.1:8080', service.url)
    .replace(/(": "(?:Bearer )?)TOKEN"/, `$1${user.token}"`)
    .replaceAll('/path/to/call-analysis', root);
  await writeFile(file, filled);
  const options = ['--cli', '--config', file, '--server', 'call-analysis', ...words];
  const program = join(folder, 'node_modules/.bin/mcp-inspector');
  return JSON.parse(
    execFileSync(program, options, {
      encoding: 'utf8',
      env: { ...process.env, MCP_INSPECTOR_SECRET_STORE: 'memory' },
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  ) as Record<string, unknown>;
}

// Installs from the registry, so it is part of the long run.
describe('the official inspector, with the configuration that docs/mcp.md prints', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'inspector-'));
    await writeFile(join(folder, 'package.json'), '{ "private": true }');
    const options = ['install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts'];
    execFileSync('npm', [...options, `@modelcontextprotocol/inspector@${VERSION}`], { cwd: folder, stdio: 'inherit' });
    service = await startService();
    user = await newFirm(service, { role: 'ADMIN' });
  });
  afterAll(async () => {
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it.each([
    ['standard input', 0],
    ['HTTP', 1],
  ])('lists and calls the tools over %s, and finds no fault in their schemas', async (_transport, which) => {
    const { tools } = await inspect(which, '--method', 'tools/list', '--strict');
    expect(tools).toHaveLength(6);
    const called = await inspect(
      which,
      '--method',
      'tools/call',
      '--tool-name',
      'search_calls',
      '--tool-arg',
      'limit=5',
    );
    const [{ text }] = called['content'] as [{ text: string }];
    expect(JSON.parse(text)).toMatchObject({ count: 0, items: [] });
  });
});

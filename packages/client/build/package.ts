/**
 * Writes the package that others install to a folder: JavaScript for Node and browsers, types, and the README.
 *
 *   node packages/client/build/package.ts DIR && npm pack DIR
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('..', import.meta.url));
const root = join(folder, '../..');
const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error('Name the folder to write.');
const target = resolve(directory);

rmSync(target, { recursive: true, force: true });
run('node', join(root, 'services/gateway/tools/api-types.ts'), join(folder, 'generated/api.ts'));
run('tsc', '-p', join(folder, 'build/tsconfig.json'), '--outDir', target);

const { name, version, type, dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
  [field: string]: string;
} & { dependencies: Record<string, string> };
const manifest = {
  name,
  version,
  description: 'A typed client of the Call Analysis Service for Node and browsers.',
  license: 'UNLICENSED',
  type,
  sideEffects: false,
  exports: { '.': { types: './index.d.ts', default: './index.js' } },
  engines: { node: '>=20' },
  dependencies: Object.fromEntries(Object.keys(dependencies).map((each) => [each, versionOf(each)])),
};
writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
copyFileSync(join(folder, 'README.md'), join(target, 'README.md'));

/** The version that this repository is tested with. */
function versionOf(dependency: string): string {
  const installed = readFileSync(join(folder, 'node_modules', dependency, 'package.json'), 'utf8');
  return (JSON.parse(installed) as { version: string }).version;
}

function run(command: string, ...args: string[]): void {
  const shell = process.platform === 'win32';
  execFileSync(join(root, 'node_modules/.bin', command), args, { stdio: ['ignore', 2, 2], shell });
}

// npm run check: types, lint, format, import rules, unused dependencies, sizes of folders, whether migrations match the
// Prisma schemas, whether the RPC contracts and the public events are compatible with the last release, whether
// docs/configuration.md and docs/events.md are current, and whether the commands and API paths that documents, alerts and
// messages name exist.
// Prints how much code there is.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { checkBoundaries, checkCircles, checkDependencies, checkFolders } from './boundaries.ts';
import { checkConfiguration } from './configuration.ts';
import { checkEvents } from './events.ts';
import { checkMentions } from './mentions.ts';
import { checkMigrations } from './migrations.ts';
import { checkProtos } from './proto.ts';
import { checkReleasedEvents } from './released-events.ts';

const steps: { name: string; run: () => readonly string[] | Promise<readonly string[]> }[] = [
  // Made from the OpenAPI document; the client and the console use them.
  {
    name: 'types of the API',
    run: () => command('node', ['services/gateway/tools/api-types.ts', 'packages/client/generated/api.ts']),
  },
  { name: 'types', run: () => command('tsc', ['-p', '.', '--noEmit']) },
  { name: 'types of the console', run: () => command('tsc', ['-p', 'packages/console', '--noEmit']) },
  {
    name: 'lint',
    run: () => command('oxlint', ['--deny-warnings', 'packages', 'services', 'deploy', 'bench', 'scripts', 'proto']),
  },
  { name: 'format', run: () => command('oxfmt', ['--check', '.']) },
  { name: 'imports', run: () => [...checkBoundaries(), ...checkCircles()] },
  { name: 'dependencies', run: () => checkDependencies() },
  { name: 'folders', run: () => checkFolders() },
  { name: 'migrations', run: () => checkMigrations() },
  { name: 'proto', run: () => checkProtos() },
  { name: 'configuration', run: () => checkConfiguration() },
  { name: 'events', run: () => [...checkEvents(), ...checkReleasedEvents()] },
  { name: 'commands and paths', run: () => checkMentions() },
];

let failed = 0;
for (const { name, run } of steps) {
  const faults = await run();
  console.log(`${faults.length === 0 ? 'ok    ' : 'FAILED'}  ${name}`);
  for (const fault of faults) console.log(fault);
  if (faults.length > 0) failed++;
}
console.log(sizeOfProduction());
process.exitCode = failed === 0 ? 0 : 1;

/** Without tests and what only they use. */
function sizeOfProduction(): string {
  const { stdout } = spawnSync('git', ['ls-files', '*.ts', '*.tsx'], { encoding: 'utf8' });
  const files = stdout
    .split('\n')
    .filter((file) => file !== '' && !/\.test\.ts|(^|\/)test\/|testing\/|contract|fixtures\//.test(file));
  const lines = files.reduce((sum, file) => sum + readFileSync(file, 'utf8').split('\n').length - 1, 0);
  return `${lines.toLocaleString('en')} lines in ${files.length.toLocaleString('en')} files of production TypeScript`;
}

function command(name: string, args: readonly string[]): string[] {
  const { status, stdout, stderr } = spawnSync(`node_modules/.bin/${name}`, args, {
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  return status === 0 ? [] : [`${stdout}${stderr}`.trim()];
}

// npm run check: types, lint, format, import rules, unused dependencies, sizes of folders, whether migrations match the
// Prisma schemas, whether the RPC contracts and the public events are compatible with the last release, whether
// docs/configuration.md and docs/events.md are current, and whether the commands and API paths that documents, alerts and
// messages name exist.
// Prints how long each step took and how much code there is.
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { checkBoundaries, checkCircles, checkDependencies, checkFolders } from './boundaries.ts';
import { checkConfiguration } from './configuration.ts';
import { checkEvents, checkReleasedEvents } from './events.ts';
import { checkMentions } from './mentions.ts';
import { checkMigrations } from './migrations.ts';
import { checkProtos } from './proto.ts';

interface Step {
  readonly name: string;
  readonly run: () => readonly string[] | Promise<readonly string[]>;
}

/** Made from the OpenAPI document; the client and the console use them. */
const typesOfApi: Step = {
  name: 'types of the API',
  run: () => command('node', ['services/gateway/tools/api-types.ts', 'packages/client/generated/api.ts']),
};
/** Run at the same time, the processes of the first ones together with the functions of the others. */
const steps: readonly Step[] = [
  { name: 'types', run: () => checkTypes('.', 'all') },
  { name: 'types of the console', run: () => checkTypes('packages/console', 'console') },
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
report(await timed(typesOfApi));
for (const outcome of steps.map(timed)) report(await outcome);
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

interface Outcome {
  readonly name: string;
  readonly faults: readonly string[];
  readonly seconds: number;
}

async function timed({ name, run }: Step): Promise<Outcome> {
  const began = performance.now();
  const outcome = (faults: readonly string[]) => ({ name, faults, seconds: (performance.now() - began) / 1000 });
  const running = run();
  // What is not awaited does not count the functions that run before the next turn.
  return running instanceof Promise ? outcome(await running) : outcome(running);
}

function report({ name, faults, seconds }: Outcome): void {
  console.log(`${faults.length === 0 ? 'ok    ' : 'FAILED'}  ${seconds.toFixed(1).padStart(6)} s  ${name}`);
  for (const fault of faults) console.log(fault);
  if (faults.length > 0) failed++;
}

/** What has not changed since the last check is not checked again. */
function checkTypes(project: string, name: string): Promise<string[]> {
  const known = ['--incremental', '--tsBuildInfoFile', `node_modules/.cache/types/${name}.tsbuildinfo`];
  return command('tsc', ['-p', project, '--noEmit', ...known]);
}

function command(name: string, args: readonly string[]): Promise<string[]> {
  const options = { maxBuffer: 64 * 1024 ** 2, shell: process.platform === 'win32' };
  return new Promise((resolve) => {
    execFile(`node_modules/.bin/${name}`, args, options, (error, stdout, stderr) =>
      resolve(error === null ? [] : [`${stdout}${stderr}`.trim() || error.message]),
    );
  });
}

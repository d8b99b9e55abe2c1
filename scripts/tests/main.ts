// npm test, npm run test:distributed, npm run test:browser: runs the tests in phases, then each file that failed once more by
// itself, and says what took how long.
import { appendFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { type FileResult, runJest } from './jest.ts';

interface Phase {
  readonly name: string;
  readonly config: string;
  /** How many files run at the same time. */
  readonly workers: number;
}

const SUITES: Readonly<Record<string, readonly Phase[]>> = {
  default: [
    { name: 'files that start no system', config: 'jest.config.js', workers: availableParallelism() },
    // A system has the machine to itself: what it does in time does not depend on its neighbours.
    { name: 'files that start systems', config: 'jest.systems.config.js', workers: 1 },
  ],
  distributed: [{ name: 'files with Kafka and S3', config: 'jest.distributed.config.js', workers: 1 }],
  browser: [{ name: 'files with Chromium', config: 'jest.browser.config.js', workers: 1 }],
};
/** When more files fail, the cause is no coincidence, and nothing is repeated. */
const MOST_REPEATED = 10;
const SLOWEST = 10;

const [suite = 'default', ...args] = process.argv.slice(2);
const phases = SUITES[suite];
if (phases === undefined) {
  console.error(`usage: node scripts/tests/main.ts ${Object.keys(SUITES).join('|')} [PATH…] [JEST'S OPTIONS]`);
  process.exit(2);
}

const began = performance.now();
const steps: string[] = [];
const files: FileResult[] = [];
const flaky: string[] = [];
for (const { name, config, workers } of phases) {
  await timed(name, async () => {
    files.push(...(await runJest(config, [`--maxWorkers=${workers}`, '--passWithNoTests', ...args])));
  });
  const failed = files.filter((file) => file.config === config && file.failed > 0);
  if (failed.length > MOST_REPEATED) continue;
  for (const file of failed) {
    await timed(`${file.path} again, by itself`, async () => {
      const [again] = await runJest(config, ['--runInBand', '--runTestsByPath', file.path]);
      if (again === undefined || again.failed > 0) return;
      flaky.push(`FLAKY ${file.path}: ${file.firstError}`);
      files[files.indexOf(file)] = again;
    });
  }
}

const sum = (count: 'passed' | 'failed' | 'skipped') => files.reduce((total, file) => total + file[count], 0);
const result = { suite, passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped'), flaky: flaky.length };
say('Slowest files', files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST).map(({ seconds, path }) => line(seconds, path)));
say('Steps', [...steps, line((performance.now() - began) / 1000, 'all')]);
for (const each of flaky) console.log(each);
if (files.length === 0) console.log(`No test file matches ${args.join(' ')}.`);
console.log(`${result.passed} passed, ${result.failed} failed, ${result.skipped} skipped`);
const summary = process.env['TEST_SUMMARY'];
if (summary !== undefined) appendFileSync(summary, `${JSON.stringify(result)}\n`);
process.exitCode = result.failed > 0 || files.length === 0 ? 1 : 0;

async function timed(name: string, work: () => Promise<void>): Promise<void> {
  const start = performance.now();
  await work();
  steps.push(line((performance.now() - start) / 1000, name));
}

function line(seconds: number, what: string): string {
  return `${seconds.toFixed(1).padStart(7)} s  ${what}`;
}

function say(title: string, lines: readonly string[]): void {
  console.log(`\n${title}\n${lines.join('\n')}`);
}

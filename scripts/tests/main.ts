// npm test and its relatives: run test files with Jest, those that failed once more by themselves, and say what took how long.
import { appendFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { type FileResult, type Group, runJest } from './jest.ts';

const USAGE = `Usage: npm test -- [PATH…] [JEST'S OPTIONS]
       npm run test:distributed | test:browser | test:speech | test:model -- [PATH…] [JEST'S OPTIONS]

Runs the test files, or those whose path contains a PATH. A file that fails is run once more, by itself: if it passes then, it is
printed as FLAKY, which is a defect to mend. Prints the slowest files, how long each step took and, in the last line, how many
tests passed, failed and were skipped. Exits with 0 if none failed.

  TEST_RUN=long      also the files named long, and more kills
  TEST_SUMMARY=FILE  appends the counts to FILE, as one line of JSON`;

const PROCESSORS = availableParallelism();
const SYSTEMS = ['deploy'];
const OTHERS = ['packages', 'services', 'scripts'];

/** The groups of a suite run at the same time, each with servers of its own. */
const SUITES: Readonly<Record<string, readonly Group[]>> = {
  // All wait for more than half of their time.
  default: [
    { name: 'systems', config: 'jest.config.js', roots: SYSTEMS, workers: PROCESSORS },
    { name: 'other files', config: 'jest.config.js', roots: OTHERS, workers: PROCESSORS + 1 },
  ],
  distributed: [
    // A system is six processes and Kafka.
    {
      name: 'systems',
      config: 'jest.distributed.config.js',
      roots: ['deploy/standalone', 'deploy/soak'],
      workers: 1,
    },
    // Links that fail, which is mostly waiting.
    { name: 'failures', config: 'jest.distributed.config.js', roots: ['deploy/distributed'], workers: 1 },
    { name: 'other files', config: 'jest.distributed.config.js', roots: OTHERS, workers: PROCESSORS + 1 },
  ],
  // A browser keeps one processor busy: its pages wait for the system, or the system for them.
  browser: [{ name: 'systems', config: 'jest.browser.config.js', roots: SYSTEMS, workers: PROCESSORS }],
  speech: [{ name: 'engines', config: 'jest.real.config.js', roots: ['services/transcription'], workers: 1 }],
  model: [{ name: 'language model', config: 'jest.real.config.js', roots: ['services/analysis'], workers: 1 }],
};
/** When more files fail, the cause is no coincidence, and none is run again. */
const MOST_AGAIN = 10;
const SLOWEST = 10;

const [suite = '', ...args] = process.argv.slice(2);
const groups = SUITES[suite];
if (groups === undefined || args.includes('--help')) {
  (groups === undefined ? console.error : console.log)(USAGE);
  process.exit(groups === undefined ? 2 : 0);
}

const began = performance.now();
const steps: string[] = [];
const flaky: string[] = [];
const files: FileResult[] = [];
await Promise.all(
  groups.map(async (group) => {
    files.push(...(await timed(group.name, () => runJest(group, ['--passWithNoTests', ...args]))));
  }),
);
const failed = files.filter((file) => file.failed > 0);
for (const file of failed.length > MOST_AGAIN ? [] : failed) {
  const [again] = await timed(`${file.path} again`, () => runJest(file.group, ['--runTestsByPath', file.path]));
  if (again === undefined || again.failed > 0) continue;
  flaky.push(`FLAKY ${file.path}: ${file.firstError}`);
  files[files.indexOf(file)] = again;
}

steps.push(line(began, 'all'));
const slowest = files.toSorted((one, other) => other.seconds - one.seconds).slice(0, SLOWEST);
console.log(`\nSlowest files\n${slowest.map(({ seconds, path }) => `${duration(seconds)}  ${path}`).join('\n')}`);
console.log(`\nSteps\n${steps.join('\n')}\n`);
for (const each of flaky) console.log(each);
if (files.length === 0) console.log(`No test file matches ${args.join(' ')}.`);
const count = (of: 'passed' | 'failed' | 'skipped') => files.reduce((sum, file) => sum + file[of], 0);
const counts = { suite, passed: count('passed'), failed: count('failed'), skipped: count('skipped'), flaky };
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
if (process.env['TEST_SUMMARY'] !== undefined) {
  appendFileSync(process.env['TEST_SUMMARY'], `${JSON.stringify(counts)}\n`);
}
process.exitCode = counts.failed > 0 || files.length === 0 ? 1 : 0;

async function timed(name: string, work: () => Promise<FileResult[]>): Promise<FileResult[]> {
  const start = performance.now();
  const results = await work();
  steps.push(line(start, name));
  return results;
}

function line(since: number, what: string): string {
  return `${duration((performance.now() - since) / 1000)}  ${what}`;
}

function duration(seconds: number): string {
  return `${seconds.toFixed(1).padStart(7)} s`;
}

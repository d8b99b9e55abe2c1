// npm run test:steady: whether the tests pass every time, and on a busy machine.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';

const USAGE = `Usage: npm run test:steady -- [RUNS] [--no-ci]

Runs npm test RUNS times in a row (default 5), then .ci/run with a busy loop for each processor. Prints a line for each run, and
the test files that were flaky. Exits with 0 if all runs succeeded and no file was flaky.

  --no-ci   without .ci/run`;

const args = process.argv.slice(2);
const [text = '5'] = args.filter((each) => each !== '--no-ci');
const runs = Number(text);
if (!Number.isInteger(runs) || runs < 0 || args.length > 2) {
  (args.includes('--help') ? console.log : console.error)(USAGE);
  process.exit(args.includes('--help') ? 0 : 2);
}

const directory = mkdtempSync(join(tmpdir(), 'steady-'));
for (let number = 1; number <= runs; number++) run(`npm-test-${number}`, 'npm', ['test']);
if (!args.includes('--no-ci')) {
  // Each ends with this process.
  const loop = 'const parent = process.ppid; while (process.ppid === parent);';
  const busy = Array.from({ length: availableParallelism() }, () => spawn(process.execPath, ['-e', loop]));
  try {
    run('ci-beside-busy-loops', 'bash', ['.ci/run']);
  } finally {
    for (const each of busy) each.kill('SIGKILL');
  }
}

function run(name: string, command: string, commandArgs: readonly string[]): void {
  const log = join(directory, `${name}.log`);
  const began = performance.now();
  const output = openSync(log, 'w');
  const { status } = spawnSync(command, commandArgs, { stdio: ['ignore', output, output] });
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
  const flaky = [...new Set(lines.filter((line) => line.startsWith('FLAKY ')))];
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  const holds = status === 0 && flaky.length === 0;
  console.log(`${holds ? 'ok    ' : 'FAILED'}  ${seconds.padStart(6)} s  ${name}  ${lines.at(-1)}  ${log}`);
  for (const line of flaky) console.log(`        ${line}`);
  if (!holds) process.exitCode = 1;
}

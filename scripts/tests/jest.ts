import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** Test files that one run of Jest takes. */
export interface Group {
  readonly name: string;
  /** Jest's configuration. */
  readonly config: string;
  /** The folders that hold the files. */
  readonly roots: readonly string[];
  /** How many files run at the same time. */
  readonly workers: number;
}

/** The outcome of a test file. One that cannot be loaded counts as a failed test. */
export interface FileResult {
  readonly path: string;
  readonly group: Group;
  readonly seconds: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** One line. Empty when nothing failed. */
  readonly firstError: string;
}

interface JestResults {
  readonly testResults: readonly {
    readonly name: string;
    readonly startTime: number;
    readonly endTime: number;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** Runs Jest with its usual output and returns what became of each file. Rejects when Jest itself fails. */
export async function runJest(group: Group, args: readonly string[]): Promise<FileResult[]> {
  const directory = mkdtempSync(join(tmpdir(), 'test-results-'));
  try {
    const output = join(directory, 'results.json');
    const child = spawn(
      process.execPath,
      [
        '--max-semi-space-size=64',
        '--disable-warning=ExperimentalWarning',
        'node_modules/jest/bin/jest.js',
        `--config=${group.config}`,
        ...group.roots.map((root) => `--roots=${root}`),
        `--maxWorkers=${group.workers}`,
        '--json',
        `--outputFile=${output}`,
        ...args,
      ],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    );
    const stop = () => child.kill('SIGTERM');
    process.once('SIGTERM', stop);
    const [code] = await once(child, 'close');
    process.off('SIGTERM', stop);
    return resultsIn(output, group, code);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function resultsIn(output: string, group: Group, code: number | null): FileResult[] {
  let results: JestResults;
  try {
    results = JSON.parse(readFileSync(output, 'utf8')) as JestResults;
  } catch (cause) {
    throw new Error(`Jest ended with ${code} and no results.`, { cause });
  }
  return results.testResults.map((file) => {
    const count = (status: string) => file.assertionResults.filter((each) => each.status === status).length;
    const failure = file.assertionResults.find(({ status }) => status === 'failed');
    const error = failure === undefined ? file.message : `${failure.fullName}: ${failure.failureMessages[0] ?? ''}`;
    const passed = file.status !== 'failed';
    return {
      path: relative(process.cwd(), file.name),
      group,
      seconds: (file.endTime - file.startTime) / 1000,
      passed: count('passed'),
      failed: passed ? 0 : Math.max(1, count('failed')),
      skipped: count('pending') + count('todo') + count('skipped'),
      firstError: passed ? '' : oneLine(error),
    };
  });
}

function oneLine(text: string): string {
  const lines = stripVTControlCharacters(text)
    .split('\n')
    .map((line) => line.trim());
  return lines
    .filter((line) => line !== '')
    .slice(0, 4)
    .join(' ')
    .slice(0, 400);
}

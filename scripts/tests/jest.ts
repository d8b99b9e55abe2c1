import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

/** The outcome of a test file. One that cannot be loaded counts as a failed test. */
export interface FileResult {
  readonly path: string;
  /** Of Jest, that it ran with. */
  readonly config: string;
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
export async function runJest(config: string, args: readonly string[]): Promise<FileResult[]> {
  const directory = mkdtempSync(join(tmpdir(), 'test-results-'));
  try {
    const output = join(directory, 'results.json');
    const child = spawn(
      process.execPath,
      [
        '--max-semi-space-size=64',
        '--disable-warning=ExperimentalWarning',
        'node_modules/jest/bin/jest.js',
        `--config=${config}`,
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
    return resultsIn(output, config, code);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function resultsIn(output: string, config: string, code: number | null): FileResult[] {
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
    const passed = file.status === 'passed';
    return {
      path: relative(process.cwd(), file.name),
      config,
      seconds: (file.endTime - file.startTime) / 1000,
      passed: count('passed'),
      failed: passed ? 0 : Math.max(1, count('failed')),
      skipped: count('pending') + count('todo') + count('skipped'),
      firstError: passed ? '' : oneLine(error),
    };
  });
}

function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- Jest colours its messages.
  return text.replaceAll(/\u001B\[\d+m/g, '').split('\n').map((line) => line.trim()).filter((line) => line !== '').slice(0, 4).join(' ').slice(0, 400);
}

import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../client/retry.ts';

interface Started {
  stop(options: { keep: boolean }): Promise<number | null>;
}

/**
 * Makes a data directory in the state after a first start, by default a temporary one, and returns its path. The first start
 * happens once in a test run and its directory is copied, because creating the database and its tables takes longer than the
 * rest of a start.
 */
export async function copyOfFirstStart(
  startOn: (directory: string) => Promise<Started>,
  path?: string,
): Promise<string> {
  const copy = path ?? (await mkdtemp(join(tmpdir(), 'call-analysis-')));
  await mkdir(copy, { recursive: true });
  const original = await firstStart(startOn);
  // The owners are preserved: when root runs the tests, another user owns PostgreSQL's files.
  await promisify(execFile)('cp', ['-a', `${original}/.`, copy]);
  return copy;
}

async function firstStart(startOn: (directory: string) => Promise<Started>): Promise<string> {
  const scratch = process.env['TEST_SCRATCH'];
  if (scratch === undefined) throw new Error('TEST_SCRATCH is not set; the globalSetup of Jest sets it.');
  const [draft, ready] = [join(scratch, 'first-start.draft'), join(scratch, 'first-start')];
  for (;;) {
    if (await exists(ready)) return ready;
    // The test file that creates the folder starts the service on it. The other test files wait.
    const mine = await mkdir(draft).then(
      () => true,
      () => false,
    );
    if (mine) {
      try {
        const service = await startOn(draft);
        await service.stop({ keep: true });
        await rename(draft, ready);
      } finally {
        await rm(draft, { recursive: true, force: true });
      }
    } else {
      await eventually(async () => (await exists(ready)) || !(await exists(draft)), 50);
    }
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

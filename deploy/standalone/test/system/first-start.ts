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
 * A new data directory that looks as a first start leaves it. That start is made once in a run and copied: the database
 * it makes, with all its tables, costs more than the rest of it.
 */
export async function copyOfFirstStart(startOn: (directory: string) => Promise<Started>): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'call-analysis-'));
  const original = await firstStart(startOn);
  // Its owners are kept: PostgreSQL's files are another user's when root runs the tests.
  await promisify(execFile)('cp', ['-a', `${original}/.`, copy]);
  return copy;
}

async function firstStart(startOn: (directory: string) => Promise<Started>): Promise<string> {
  const scratch = process.env['TEST_SCRATCH'];
  if (scratch === undefined) throw new Error('TEST_SCRATCH is not set; the globalSetup of Jest sets it.');
  const [draft, ready] = [join(scratch, 'first-start.draft'), join(scratch, 'first-start')];
  for (;;) {
    if (await exists(ready)) return ready;
    // Who makes the folder makes what is in it; the other test files wait.
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

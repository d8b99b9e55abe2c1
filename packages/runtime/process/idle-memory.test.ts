import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';

const run = promisify(execFile);

/** Resident bytes at the start, after a load, and after being idle. */
async function memory(...flags: string[]): Promise<{ before: number; busy: number; idle: number }> {
  const file = fileURLToPath(new URL('../test/idle-process.ts', import.meta.url));
  const { stdout } = await run(process.execPath, [...flags, file]);
  return JSON.parse(stdout) as { before: number; busy: number; idle: number };
}

describe('the memory of a load', () => {
  it('is returned once the process is idle', async () => {
    const { before, busy, idle } = await memory('--expose-gc');
    expect(idle - before).toBeLessThan((busy - before) / 2);
  });

  it('stays with V8 in a process without --expose-gc', async () => {
    const { before, busy, idle } = await memory();
    expect(idle - before).toBeGreaterThan((busy - before) / 2);
  });
});

import { readFile, writeFile } from 'node:fs/promises';

/**
 * How much more memory the process that grew most had at its highest while the work was done than before, in MiB. Linux
 * alone tells.
 */
export async function growthMiB(pids: readonly number[], work: () => Promise<void>): Promise<number> {
  if (process.platform !== 'linux') {
    await work();
    return 0;
  }
  // Makes the highest mark so far the present one.
  for (const pid of pids) await writeFile(`/proc/${pid}/clear_refs`, '5');
  const before = await Promise.all(pids.map(peakMiB));
  await work();
  const after = await Promise.all(pids.map(peakMiB));
  return Math.max(...after.map((peak, index) => peak - before[index]!));
}

async function peakMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)![1]) / 1024;
}

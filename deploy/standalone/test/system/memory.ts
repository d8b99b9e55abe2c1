import { readFile, writeFile } from 'node:fs/promises';

/** The largest growth of a process's peak memory during the work, in MiB. Always 0 where the system is not Linux. */
export async function growthMiB(pids: readonly number[], work: () => Promise<void>): Promise<number> {
  if (process.platform !== 'linux') {
    await work();
    return 0;
  }
  // Resets the peak to the present size.
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

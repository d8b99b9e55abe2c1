import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

// Run by start.ts with the server's pid and folder: when the run that holds the other end of standard input has ended,
// stops a server it left running and removes the folder.
const pid = Number(process.argv[2]);
const directory = process.argv[3] ?? '';

process.stdin.resume();
process.stdin.once('close', async () => {
  for (let waits = 0; waits < 100 && (await stillServes()); waits++) {
    if (waits % 20 === 0) quit();
    await pause(50);
  }
  await rm(directory, { recursive: true, force: true, maxRetries: 10 });
});

function quit(): void {
  try {
    process.kill(pid, 'SIGQUIT');
  } catch {
    // It has ended in the meantime.
  }
}

/** By the pid file and not by the pid alone, which may be another program's by now. */
async function stillServes(): Promise<boolean> {
  const text = await readFile(join(directory, 'cluster', 'postmaster.pid'), 'utf8').catch(() => '');
  try {
    return Number(text.split('\n')[0]) === pid && process.kill(pid, 0);
  } catch {
    return false;
  }
}

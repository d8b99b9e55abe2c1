import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

// Run by watch.ts: when the run that holds the other end of standard input has ended, stops the servers it left running
// and removes their folder.
const [directory = '', pidFile = '', signal = 'SIGKILL'] = process.argv.slice(2);
const politeWaits = 100;

process.stdin.resume();
process.stdin.once('close', async () => {
  for (let waits = 0; waits < politeWaits + 40; waits++) {
    const pids = await serving();
    if (pids.length === 0) break;
    for (const pid of pids) {
      if (waits >= politeWaits) send(pid, 'SIGKILL');
      else if (waits % 20 === 0) send(pid, signal as NodeJS.Signals);
    }
    await pause(50);
  }
  await rm(directory, { recursive: true, force: true, maxRetries: 10 });
});

function send(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
    // What was stopped takes no other signal.
    process.kill(pid, 'SIGCONT');
  } catch {
    // It has ended in the meantime.
  }
}

async function serving(): Promise<number[]> {
  const path = join(directory, pidFile);
  const files = await readdir(path).then(
    (names) => names.map((name) => join(path, name)),
    () => [path],
  );
  const pids = await Promise.all(files.map(pidIn));
  return pids.filter((pid) => pid !== null);
}

async function pidIn(file: string): Promise<number | null> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const pid = Number(text.split('\n')[0]);
  if (!Number.isSafeInteger(pid) || pid <= 1) return null;
  try {
    process.kill(pid, 0);
  } catch {
    return null;
  }
  return (await isAnother(pid)) ? null : pid;
}

/** The number may be another program's by now; ours names its folder. Where there is no /proc the file is believed. */
async function isAnother(pid: number): Promise<boolean> {
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null);
  return line !== null && line !== '' && !line.includes(directory);
}

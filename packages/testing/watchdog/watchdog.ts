import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

// Run by start-watchdog.ts. When the test run at the other end of standard input has ended, it stops the servers that
// are still running and removes their folder.
const [directory = '', ...servers] = process.argv.slice(2);
const politeWaits = 100;

process.stdin.resume();
process.stdin.once('close', async () => {
  for (let index = 0; index < servers.length; index += 2)
    await end(servers[index]!, servers[index + 1] as NodeJS.Signals);
  await rm(directory, { recursive: true, force: true, maxRetries: 10 });
});

async function end(pidFile: string, signal: NodeJS.Signals): Promise<void> {
  for (let waits = 0; waits < politeWaits + 40; waits++) {
    const pids = await serving(pidFile);
    if (pids.length === 0) break;
    for (const pid of pids) {
      if (waits >= politeWaits) send(pid, 'SIGKILL');
      else if (waits % 20 === 0) send(pid, signal);
    }
    await pause(50);
  }
}

function send(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
    // A process stopped by SIGSTOP receives other signals only after SIGCONT.
    process.kill(pid, 'SIGCONT');
  } catch {
    // The process has already ended.
  }
}

async function serving(pidFile: string): Promise<number[]> {
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

/**
 * The pid may now belong to another program; a server has the folder in its arguments. Without /proc the file is
 * trusted.
 */
async function isAnother(pid: number): Promise<boolean> {
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null);
  return line !== null && line !== '' && !line.includes(directory);
}

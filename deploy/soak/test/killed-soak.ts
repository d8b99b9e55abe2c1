import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { bareEnvironment, waitUntil } from '@call-analysis/testing';
import { expect } from '@jest/globals';
import { isAlive } from '../../standalone/test/system/command.ts';

const program = fileURLToPath(new URL('../main.ts', import.meta.url));
const GONE_WITHIN_MS = 20_000;
/** Signals that come sooner count as one. */
const BETWEEN_SIGNALS_MS = 400;

/** Starts a soak, sends it the signals while it runs, and expects that every process that it had started ends. */
export async function expectNothingLeft(args: readonly string[], ...signals: NodeJS.Signals[]): Promise<void> {
  const soak = spawn(process.execPath, [program, '--calls', '100000', '--kills', '0', ...args], {
    env: bareEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let started: number[] = [];
  try {
    for await (const line of createInterface(soak.stderr)) if (line === 'the load begins') break;
    started = descendantsOf(soak.pid!);
    expect(started.length).toBeGreaterThan(3);
    const ended = once(soak, 'exit');
    for (const signal of signals) {
      soak.kill(signal);
      await pause(BETWEEN_SIGNALS_MS);
    }
    await ended;
    await waitUntil(() => !started.some(isAlive), { timeoutMs: GONE_WITHIN_MS });
  } finally {
    for (const pid of [soak.pid!, ...started].filter(isAlive)) process.kill(pid, 'SIGKILL');
  }
}

function descendantsOf(pid: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const parents = new Map(pids.map((each) => [Number(each), parentOf(each)]));
  const found = [pid];
  // The array grows while it is read.
  for (const each of found) for (const [child, parent] of parents) if (parent === each) found.push(child);
  return found.slice(1);
}

function parentOf(pid: string): number | null {
  try {
    return Number(/\(.*\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1]);
  } catch {
    return null;
  }
}

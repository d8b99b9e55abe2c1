import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { BusConfig } from '../config.ts';

/** Starts another process that takes an event and never finishes it. Resolves when it has the event. */
export async function startHangingWorker(
  config: BusConfig,
  consumer: string,
  type: string,
  options: { leaseSeconds?: number; batchSize?: number; handles?: number } = {},
): Promise<{ kill(): Promise<void> }> {
  const program = fileURLToPath(new URL('./hanging-worker-process.ts', import.meta.url));
  const order = JSON.stringify({ config, consumer, type, ...options });
  const child = spawn(process.execPath, [program, order], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const taken = once(createInterface({ input: child.stdout }), 'line');
  await Promise.race([
    taken,
    exited.then(() => {
      throw new Error('The worker ended before it took an event.');
    }),
  ]);
  return {
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

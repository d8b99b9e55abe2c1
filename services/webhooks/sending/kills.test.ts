import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { waitUntil } from '@call-analysis/testing';
import { afterAll, expect, it } from '@jest/globals';
import { callCompleted, WebhooksUnderTest } from '../test/webhooks-under-test.ts';

const program = fileURLToPath(new URL('../test/service-process.ts', import.meta.url));
const processes: ChildProcess[] = [];

afterAll(() => {
  for (const child of processes) child.kill('SIGKILL');
});

// The replica of the test itself stores events and sends nothing: the processes that are killed do.
const service = new WebhooksUnderTest({}, { sender: { maxEndpoints: 0 } });

async function startProcess(): Promise<ChildProcess> {
  const argument = JSON.stringify({ config: service.config, sender: { leaseMs: 1_500, pollMs: 50 } });
  const child = spawn(process.execPath, [program, argument], { stdio: ['ignore', 'pipe', 'inherit'] });
  processes.push(child);
  await once(child.stdout!, 'data');
  return child;
}

it('processes that are killed while they send lose nothing, and what they repeat has the same webhook-id', async () => {
  const hooks = await Promise.all([1, 2, 3].map(() => service.webhook()));
  const events = hooks.flatMap(({ firmUuid }) => Array.from({ length: 500 }, () => callCompleted(firmUuid)));
  for (const { path } of hooks) {
    service.sink.answers.set(path, (_, response) => void setTimeout(() => response.writeHead(204).end(), 20));
  }
  await service.publish(...events);
  const total = () => service.sink.received.length;
  for (const share of [0.2, 0.6]) {
    const child = await startProcess();
    await waitUntil(() => total() > share * events.length);
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await startProcess();
  const ids = () => new Set(service.sink.received.map(({ id }) => id));
  await waitUntil(() => ids().size === events.length);
  expect(ids()).toEqual(new Set(events.map(({ id }) => id)));
  for (const hook of hooks) await waitUntil(async () => (await service.deliveries(hook, ['pending'])).count === 0);
  // At most the attempts that were running or not yet stored at each of the two kills are repeated.
  expect(total() - events.length).toBeLessThan(2 * 3 * 300);
  for (const hook of hooks) expect((await service.deliveries(hook, ['delivered'])).count).toBe(500);
});

// node scripts/containers/client.ts URL: a client in the engine's network, with the bearer token in TOKEN. Sends a batch and a
// recording, and says on standard error how many calls ended in which status once all calls of the firm have ended.
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { RetryingClient } from '../../deploy/distributed/test/retrying-client.ts';

const CALLS = 20;
const ENDS_WITHIN_MS = 300_000;

const [url = ''] = process.argv.slice(2);
const client = new RetryingClient({ token: process.env['TOKEN'] ?? '' }, () => url);
const before = await count('');
await client.batch(CALLS);
await client.recording(new Uint8Array(readFileSync('samples/recordings/lost-parcel.wav')));
const expected = before + CALLS + 1;
const until = Date.now() + ENDS_WITHIN_MS;
for (;;) {
  const [completed, failed] = [await count('?status=completed'), await count('?status=failed')];
  if (completed + failed === expected || Date.now() > until) {
    console.error(JSON.stringify({ expected, completed, failed }));
    process.exit(completed === expected ? 0 : 1);
  }
  await pause(500);
}

async function count(query: string): Promise<number> {
  const list = () => client.ask<{ count: number }>('list', 'GET', `/api/v1/calls${query}`);
  return (await client.retry(list)).body.count;
}

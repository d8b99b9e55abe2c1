import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { dial, LONGEST_CALL_MS } from '../index.ts';
import { KEEPALIVE_MS } from '../wire/options.ts';
import { nothing, serveTrial, trial } from './trial.ts';

const AGE_MS = 100;

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** The answer to an upload, on a connection with a maximum age of AGE_MS. */
async function answerTo(requests: AsyncIterable<{ data: Buffer }>, longestCallMs: number): Promise<unknown> {
  const countBytes = async (received: AsyncIterable<{ data: Buffer }>) => {
    let count = 0;
    for await (const { data } of received) count += data.length;
    return { what: '', count, data: nothing };
  };
  const { server } = await serveTrial(
    { upload: countBytes },
    { address: '127.0.0.1:0', connectionAgeMs: AGE_MS, longestCallMs },
  );
  closing.push(() => server.stop(0));
  const client = dial(trial, server.address, { name: 'The trial', deadlineMs: LONGEST_CALL_MS });
  closing.push(() => client.close());
  return client.upload(requests);
}

async function* upload(pauseMs: number) {
  yield { data: Buffer.alloc(1_000) };
  await pause(pauseMs);
  yield { data: Buffer.alloc(1_000) };
}

async function* endlessUpload() {
  yield { data: Buffer.alloc(1_000) };
  await new Promise(() => {});
}

describe('a connection that has reached its maximum age', () => {
  it('is kept for the calls in progress on it', async () => {
    // Longer than the time between two pings, which Node.js does not send on a connection that is being closed.
    expect(await answerTo(upload(1.5 * KEEPALIVE_MS), 3_600_000)).toMatchObject({ count: 2_000 });
  });

  it('is closed when they exceed the longest call, so never before the longest deadline', async () => {
    await expect(answerTo(endlessUpload(), 2 * AGE_MS)).rejects.toMatchObject({ kind: 'unavailable' });
    let deadline: Date | undefined;
    const { server } = await serveTrial(
      {
        async echo(request, call) {
          ({ deadline } = call);
          return request;
        },
      },
      { address: '127.0.0.1:0' },
    );
    closing.push(() => server.stop(0));
    const client = dial(trial, server.address, { name: 'The trial', deadlineMs: 10 * LONGEST_CALL_MS });
    closing.push(() => client.close());
    await client.echo({});
    expect(deadline!.getTime()).toBeLessThanOrEqual(Date.now() + LONGEST_CALL_MS);
  });
});

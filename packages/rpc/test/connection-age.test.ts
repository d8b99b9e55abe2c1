import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { dial, LONGEST_CALL_MS } from '../index.ts';
import { nothing, serveTrial, trial } from './trial.ts';

const AGE_MS = 100;

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A call that lasts for so long on a connection of which so much is known. */
async function callLasting(ms: number, longestCallMs: number): Promise<unknown> {
  const upload = async (requests: AsyncIterable<{ data: Buffer }>) => {
    let count = 0;
    for await (const { data } of requests) count += data.length;
    return { what: '', count, data: nothing };
  };
  const { server } = await serveTrial({ upload }, { address: '127.0.0.1:0', connectionAgeMs: AGE_MS, longestCallMs });
  closing.push(() => server.stop(0));
  const client = dial(trial, server.address, { name: 'The trial', deadlineMs: 60_000 });
  closing.push(() => client.close());
  async function* slowly() {
    for (let sent = 0; sent < 10; sent += 1) {
      yield { data: Buffer.alloc(1_000) };
      await pause(ms / 10);
    }
  }
  return client.upload(slowly());
}

describe('a connection that has come of age', () => {
  it('is kept for the calls that it still carries', async () => {
    expect(await callLasting(20 * AGE_MS, 60_000)).toMatchObject({ count: 10_000 });
  });

  it('is cut when they have lasted longer than any may, and so is never cut before the longest deadline', async () => {
    await expect(callLasting(20 * AGE_MS, 2 * AGE_MS)).rejects.toMatchObject({ kind: 'unavailable' });
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

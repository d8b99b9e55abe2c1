import { expect, it } from '@jest/globals';
import { waitUntil } from './wait-until.ts';

it('returns the first answer, and ignores errors before it', async () => {
  let asked = 0;
  const answer = await waitUntil(
    () => {
      asked++;
      if (asked === 1) throw new Error('not yet');
      return asked === 2 ? null : 0;
    },
    { everyMs: 1 },
  );
  expect([answer, asked]).toEqual([0, 3]);
});

it('gives up in time, with the last error as cause', async () => {
  const cause = new Error('still broken');
  const waiting = waitUntil(() => Promise.reject(cause), { timeoutMs: 20, everyMs: 5 });
  await expect(waiting).rejects.toMatchObject({ message: expect.stringContaining('20 ms'), cause });
});

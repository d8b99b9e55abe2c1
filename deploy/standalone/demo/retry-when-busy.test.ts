import { describe, expect, it } from '@jest/globals';
import { retryWhenBusy } from './retry-when-busy.ts';

const url = 'http://127.0.0.1:1/api/v1/calls/upload?signature=s';

/** Answers with these responses in order, the last one repeatedly, and records when each request came. */
function answering(...answers: { status: number; retryAfter?: string }[]) {
  const asked: number[] = [];
  const send = async () => {
    const { status, retryAfter } = answers[Math.min(asked.length, answers.length - 1)]!;
    asked.push(performance.now());
    return new Response('{}', { status, headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter } });
  };
  return { send, asked };
}

describe('the demo', () => {
  it.each([503, 429])('retries on %d, and not before the time in Retry-After', async (status) => {
    const { send, asked } = answering({ status, retryAfter: '1' }, { status, retryAfter: '0' }, { status: 200 });
    const response = await retryWhenBusy(send)(url, { method: 'POST' });
    expect([response.status, await response.text()]).toEqual([200, '{}']);
    expect(asked).toHaveLength(3);
    // A timer may fire a little early.
    expect(asked[1]! - asked[0]!).toBeGreaterThan(990);
  });

  it.each([200, 400, 500])('does not retry on %d', async (status) => {
    const { send, asked } = answering({ status });
    expect((await retryWhenBusy(send)(url, {})).status).toBe(status);
    expect(asked).toHaveLength(1);
  });

  it('gives up after a while with a sentence that contains no secret', async () => {
    const { send } = answering({ status: 503, retryAfter: '2' });
    await expect(retryWhenBusy(send, 1_000)(url, { method: 'POST' })).rejects.toThrow(
      /^POST \/api\/v1\/calls\/upload was answered with 503 for 1 s\. Try again when this machine is less busy\.$/,
    );
  });

  it('stops waiting when it is interrupted', async () => {
    const { send } = answering({ status: 503, retryAfter: '60' });
    const waiting = retryWhenBusy(send)(url, { signal: AbortSignal.timeout(50) });
    await expect(waiting).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
  });
});

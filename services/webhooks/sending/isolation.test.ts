import { waitUntil } from '@call-analysis/testing';
import { expect, it } from '@jest/globals';
import { hang } from '../test/sink.ts';
import { callCompleted, WebhooksUnderTest } from '../test/webhooks-under-test.ts';

// An endpoint that never answers times out only after the end of the test.
const service = new WebhooksUnderTest({}, { answerMs: 3_600_000 });

it('of 50 endpoints, 10 that never answer delay none of the other 40', async () => {
  const hooks = await Promise.all(Array.from({ length: 50 }, () => service.webhook()));
  const [dead, alive] = [hooks.slice(0, 10), hooks.slice(10)];
  for (const { path } of dead) service.sink.answers.set(path, hang);
  const perEndpoint = 20;
  for (let round = 0; round < perEndpoint; round += 1) {
    await service.publish(...hooks.map(({ firmUuid }) => callCompleted(firmUuid)));
  }
  await waitUntil(() => alive.every(({ received }) => received().length === perEndpoint));
  for (const each of dead)
    expect((await service.deliveries(each)).items.every(({ attempts }) => attempts === 0)).toBe(true);
  // A dead endpoint has a bounded number of attempts at the same time.
  for (const each of dead) expect(each.received().length).toBeLessThanOrEqual(4);
});

import { waitUntil } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import { hang, ok, status } from '../test/sink.ts';
import { callCompleted, callErased, WebhooksUnderTest } from '../test/webhooks-under-test.ts';

// No attempt ends by its own time, so what arrives does not wait for one.
const queuedMs = 200;
const service = new WebhooksUnderTest({}, { answerMs: 3_600_000, sender: { leaseMs: 3_000, pollMs: 20, queuedMs } });

const attempts = async (hook: Awaited<ReturnType<typeof service.webhook>>) =>
  (await service.deliveries(hook)).items.map((each) => each.attempts);

describe('a changed URL', () => {
  it('gets what waits behind an address that does not answer, and what was sent to it', async () => {
    const hook = await service.webhook();
    service.sink.answers.set(hook.path, hang);
    const events = Array.from({ length: 40 }, () => callCompleted(hook.firmUuid));
    await service.publish(...events);
    await waitUntil(() => hook.received().length === 4);
    const url = `${service.sink.url}${hook.path}/new`;
    await service.client.changeWebhook({ caller: hook.caller, webhook_uuid: hook.uuid, url });
    await waitUntil(async () => (await service.deliveries(hook, ['delivered'])).count === 40);
    const arrived = service.sink.of(`${hook.path}/new`).map(({ id }) => id);
    expect(new Set(arrived)).toEqual(new Set(events.map(({ id }) => id)));
    expect(hook.received()).toHaveLength(4);
  });

  it('does not wait for as long as the old address asked with Retry-After', async () => {
    const hook = await service.webhook();
    service.sink.answers.set(hook.path, status(429, { 'retry-after': '3600' }));
    await service.publish(callCompleted(hook.firmUuid));
    await waitUntil(async () => (await attempts(hook))[0] === 1);
    const url = `${service.sink.url}${hook.path}/new`;
    await service.client.changeWebhook({ caller: hook.caller, webhook_uuid: hook.uuid, url });
    await service.publish(callCompleted(hook.firmUuid));
    await waitUntil(() => service.sink.of(`${hook.path}/new`).length === 1);
  });

  it('begins the five days without success anew', async () => {
    const hook = await service.webhook();
    const request = { caller: hook.caller, webhook_uuid: hook.uuid };
    await service.db.query("UPDATE endpoint SET failing_since = now() - interval '6 days' WHERE uuid = $1", [
      hook.uuid,
    ]);
    service.sink.answers.set(`${hook.path}/new`, status(500));
    await service.client.changeWebhook({ ...request, url: `${service.sink.url}${hook.path}/new` });
    await service.publish(callCompleted(hook.firmUuid));
    await waitUntil(async () => (await attempts(hook))[0] === 1);
    expect((await service.client.getWebhook(request)).enabled).toBe(true);
  });
});

it('a delivery that was read before its call was erased is not sent', async () => {
  const hook = await service.webhook();
  const held: (() => void)[] = [];
  service.sink.answers.set(hook.path, (received, response) => void held.push(() => ok(received, response)));
  const [first, ...others] = Array.from({ length: 20 }, () => callCompleted(hook.firmUuid));
  await service.publish(first!, ...others);
  await waitUntil(() => held.length === 4);
  const readAt = Date.now();
  const sent = new Set(hook.received().map(({ id }) => id));
  const erased = others.filter(({ id }) => !sent.has(id));
  await service.publish(...erased.map(({ subject }) => callErased(hook.firmUuid, subject)));
  await waitUntil(async () => (await service.deliveries(hook)).count === 4 + erased.length);
  const events = async () => new Set((await service.deliveries(hook, ['pending'])).items.map(({ event }) => event));
  await waitUntil(async () => (await service.pendingEvents()) === 0);
  await waitUntil(() => Date.now() > readAt + queuedMs);
  service.sink.answers.set(hook.path, ok);
  for (const answer of held) answer();
  await waitUntil(async () => (await events()).size === 0);
  const completed = hook.received().filter(({ body }) => body.includes('call.completed'));
  expect(new Set(completed.map(({ id }) => id))).toEqual(sent);
});

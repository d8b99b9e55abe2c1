import { randomUUID } from 'node:crypto';
import { BatchFinished, BudgetSpent, CallEnded, CampaignFinished } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { deliveries } from './deliveries/delivery-store.ts';
import { ok, status } from './test/sink.ts';
import { callCompleted, callErased, completed, eventOf, WebhooksUnderTest } from './test/webhooks-under-test.ts';

const service = new WebhooksUnderTest();

describe('an event', () => {
  it('is sent with the body and the headers of Standard Webhooks, which its library verifies', async () => {
    const hook = await service.webhook();
    const event = callCompleted(hook.firmUuid);
    await service.publish(event);
    await waitUntil(() => hook.received().length > 0);
    const [{ body, headers }] = hook.received() as [ReturnType<typeof hook.received>[number]];
    expect(headers).toMatchObject({ 'webhook-id': event.id, 'content-type': 'application/json' });
    expect(new Webhook(hook.secret).verify(body, headers)).toEqual({
      type: 'call.completed',
      timestamp: event.time,
      data: {
        call_uuid: event.subject,
        status: 'completed',
        outcome: 'scored',
        score: 71.4,
        segment_type: 'support',
        partner_call_id: 'crm-1',
        batch_id: null,
        campaign_id: null,
        failure: null,
      },
    });
    expect(() => new Webhook(hook.secret).verify(`${body} `, headers)).toThrow();
    await waitUntil(async () => (await service.deliveries(hook, ['delivered'])).count === 1);
    const { items } = await service.deliveries(hook);
    expect(items).toMatchObject([{ uuid: event.id, event: 'call.completed', attempts: 1, last_status: 204 }]);
    expect(items[0]!.last_error).toBeNull();
  });

  it('is sent to the subscribers of its firm, once each, however often it arrives', async () => {
    const [hook, failures] = [await service.webhook(), await service.webhook({ events: ['call.failed'] })];
    const other = await service.webhook({ firmUuid: hook.firmUuid });
    const event = callCompleted(hook.firmUuid);
    const failed = eventOf(CallEnded, failures.firmUuid, { ...completed, status: 'failed', score: null });
    await service.publish(event, callCompleted(failures.firmUuid), failed);
    await waitUntil(() => hook.received().length + other.received().length + failures.received().length === 3);
    await service.publish({ ...event });
    await waitUntil(async () => (await service.pendingEvents()) === 0);
    expect([hook, other].map((each) => each.received().map(({ id }) => id))).toEqual([[event.id], [event.id]]);
    expect(failures.received().map(({ id }) => id)).toEqual([failed.id]);
    expect(JSON.parse(failures.received()[0]!.body)).toMatchObject({ type: 'call.failed', data: { status: 'failed' } });
  });

  it('of a batch or a campaign says its uuid and its calls by status', async () => {
    const hook = await service.webhook({ events: ['batch.finished', 'campaign.finished'] });
    const by_status = { completed: 2, failed: 1 };
    const batch = eventOf(BatchFinished, hook.firmUuid, { by_status });
    const campaign = eventOf(CampaignFinished, hook.firmUuid, { status: 'canceled', by_status });
    await service.publish(batch, campaign);
    await waitUntil(() => hook.received().length === 2);
    const data = Object.fromEntries(
      hook.received().map(({ id, body }) => [id, (JSON.parse(body) as { data: object }).data]),
    );
    expect(data).toEqual({
      [batch.id]: { batch_id: batch.subject, by_status },
      [campaign.id]: { campaign_id: campaign.subject, status: 'canceled', by_status },
    });
  });
});

describe('a spent budget', () => {
  it('is told with its month, what was spent, what becomes of calls and until when', async () => {
    const hook = await service.webhook({ events: ['budget.spent'] });
    const budget = {
      month: '2026-11',
      amount: '50',
      spent: '50.0123',
      currency: 'USD',
      when_spent: 'wait',
      resets_at: '2026-12-01T00:00:00.000Z',
    } as const;
    // The second comes from a process that knows no more.
    const events = [{ budget }, {}].map((data) => eventOf(BudgetSpent, hook.firmUuid, data, hook.firmUuid));
    await service.publish(...events);
    await waitUntil(() => hook.received().length === 2);
    const bodies = new Map(hook.received().map(({ id, body }) => [id, JSON.parse(body) as { data: object }]));
    expect(bodies.get(events[0]!.id)).toEqual({ type: 'budget.spent', timestamp: events[0]!.time, data: budget });
    const nothing = { month: null, amount: null, spent: null, currency: null, when_spent: null, resets_at: null };
    expect(bodies.get(events[1]!.id)!.data).toEqual(nothing);
  });
});

describe('a delivery that fails', () => {
  it('is sent again after 5 s with the same webhook-id and a new timestamp', async () => {
    const hook = await service.webhook();
    service.sink.answers.set(hook.path, status(503));
    const event = callCompleted(hook.firmUuid);
    await service.publish(event);
    await waitUntil(async () => (await service.deliveries(hook)).items[0]?.attempts === 1);
    const { items } = await service.deliveries(hook);
    expect(items).toMatchObject([{ status: 'pending', last_status: 503, last_error: 'answered 503' }]);
    const nextAt = Date.parse(items[0]!.next_at!);
    expect(nextAt - hook.received()[0]!.at).toBeGreaterThan(4_000);
    expect(nextAt).toBeLessThan(Date.now() + 8_000);
    service.sink.answers.set(hook.path, ok);
    const sooner = new Date(Date.now() + 1_000);
    await service.db.query('UPDATE delivery SET next_at = $1 WHERE uuid = $2', [sooner, event.id]);
    await waitUntil(() => hook.received().length === 2);
    const [first, second] = hook.received();
    expect(second!.at).toBeGreaterThanOrEqual(sooner.getTime());
    expect(second!.id).toBe(first!.id);
    new Webhook(hook.secret).verify(second!.body, second!.headers);
    await waitUntil(async () => (await service.deliveries(hook, ['delivered'])).count === 1);
  });

  it('waits for as long as Retry-After says, and follows no redirect', async () => {
    const [busy, moved] = [await service.webhook(), await service.webhook()];
    service.sink.answers.set(busy.path, status(429, { 'retry-after': '3600' }));
    service.sink.answers.set(moved.path, status(302, { location: `${service.sink.url}/elsewhere` }));
    await service.publish(callCompleted(busy.firmUuid), callCompleted(moved.firmUuid));
    await waitUntil(async () => (await service.deliveries(busy)).items[0]?.attempts === 1);
    const { items } = await service.deliveries(busy);
    expect(Date.parse(items[0]!.next_at!) - Date.now()).toBeGreaterThan(3_500_000);
    await waitUntil(async () => (await service.deliveries(moved)).items[0]?.attempts === 1);
    expect((await service.deliveries(moved)).items).toMatchObject([{ last_status: 302, status: 'pending' }]);
    expect(service.sink.of('/elsewhere')).toEqual([]);
  });

  it('of a dead host says why', async () => {
    const hook = await service.webhook({ url: 'http://127.0.0.1:9/' });
    await service.publish(callCompleted(hook.firmUuid));
    await waitUntil(async () => (await service.deliveries(hook)).items[0]?.attempts === 1);
    const [delivery] = (await service.deliveries(hook)).items;
    expect(delivery).toMatchObject({ status: 'pending', last_error: 'the connection was refused (ECONNREFUSED)' });
    expect(delivery!.last_status).toBeNull();
  });

  it('has failed after the last attempt of the schedule', async () => {
    const hook = await service.webhook();
    service.sink.answers.set(hook.path, status(500));
    const event = callCompleted(hook.firmUuid);
    await service.publish(event);
    await waitUntil(async () => (await service.deliveries(hook)).items[0]?.attempts === 1);
    await service.db.query('UPDATE delivery SET step = 9, attempts = 9, next_at = now() WHERE uuid = $1', [event.id]);
    await waitUntil(async () => (await service.deliveries(hook, ['failed'])).count === 1);
    const [delivery] = (await service.deliveries(hook)).items;
    expect(delivery).toMatchObject({ attempts: 10, last_error: 'answered 500' });
    expect(delivery!.next_at).toBeNull();
  });
});

describe('an endpoint', () => {
  it('that answers 410 is disabled at once, which the log and the list say', async () => {
    const hook = await service.webhook();
    service.sink.answers.set(hook.path, status(410));
    await service.publish(callCompleted(hook.firmUuid));
    const seen = () => service.client.getWebhook({ caller: hook.caller, webhook_uuid: hook.uuid });
    await waitUntil(async () => !(await seen()).enabled);
    expect(await seen()).toMatchObject({ disabled_reason: 'the endpoint answered 410 Gone' });
    expect(service.lines).toContainEqual(
      expect.objectContaining({ msg: 'webhook disabled', webhook_uuid: hook.uuid, firm_uuid: hook.firmUuid }),
    );
  });

  it('is disabled after five days without success, and one success begins them anew', async () => {
    const [dead, alive] = [await service.webhook(), await service.webhook()];
    service.sink.answers.set(dead.path, status(500));
    const backdate = `UPDATE endpoint SET failing_since = now() - interval '5 days 1 second' WHERE uuid = ANY($1)`;
    await service.db.query(backdate, [[dead.uuid, alive.uuid]]);
    await service.publish(callCompleted(dead.firmUuid), callCompleted(alive.firmUuid));
    const seen = ({ caller, uuid }: typeof dead) => service.client.getWebhook({ caller, webhook_uuid: uuid });
    await waitUntil(async () => !(await seen(dead)).enabled);
    expect((await seen(dead)).disabled_reason).toContain('five days');
    await waitUntil(async () => (await service.deliveries(alive, ['delivered'])).count === 1);
    service.sink.answers.set(alive.path, status(500));
    await service.publish(callCompleted(alive.firmUuid));
    await waitUntil(async () => (await service.deliveries(alive, ['pending'])).items[0]?.attempts === 1);
    expect((await seen(alive)).enabled).toBe(true);
  });

  it('that is disabled gets nothing; what happens meanwhile is sent by a replay', async () => {
    const hook = await service.webhook();
    const request = { caller: hook.caller, webhook_uuid: hook.uuid };
    const from = new Date(Date.now() - 60_000).toISOString();
    await service.client.changeWebhook({ ...request, enabled: false });
    const event = callCompleted(hook.firmUuid);
    await service.publish(event);
    await waitUntil(async () => (await service.deliveries(hook, ['failed'])).count === 1);
    const to = new Date(Date.now() + 60_000).toISOString();
    await expect(service.client.replay({ ...request, from, to })).rejects.toMatchObject({ code: 'WEBHOOK_DISABLED' });
    await expect(service.client.testWebhook(request)).rejects.toMatchObject({ code: 'WEBHOOK_DISABLED' });
    expect(hook.received()).toEqual([]);
    await service.client.changeWebhook({ ...request, enabled: true });
    expect(await service.client.replay({ ...request, from, to })).toEqual({ deliveries: 1 });
    await waitUntil(() => hook.received().length === 1);
    // What was delivered is sent again too, under the same id.
    await waitUntil(async () => (await service.deliveries(hook, ['delivered'])).count === 1);
    expect(await service.client.replay({ ...request, from, to })).toEqual({ deliveries: 1 });
    await waitUntil(() => hook.received().length === 2);
    expect(hook.received().map(({ id }) => id)).toEqual([event.id, event.id]);
    expect(await service.client.replay({ ...request, from: to, to })).toEqual({ deliveries: 0 });
  });

  it('gets a test event, and a single delivery again', async () => {
    const hook = await service.webhook();
    const request = { caller: hook.caller, webhook_uuid: hook.uuid };
    const { uuid } = await service.client.testWebhook(request);
    await waitUntil(async () => (await service.deliveries(hook, ['delivered'])).count === 1);
    expect(JSON.parse(hook.received()[0]!.body)).toMatchObject({
      type: 'webhook.test',
      data: { webhook_uuid: hook.uuid },
    });
    await service.client.retryDelivery({ ...request, delivery_uuid: uuid });
    await waitUntil(() => hook.received().length === 2);
    expect(hook.received().map(({ id }) => id)).toEqual([uuid, uuid]);
    const unknown = service.client.retryDelivery({ ...request, delivery_uuid: randomUUID() });
    await expect(unknown).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('is signed with both secrets after a rotation, and with the new one alone a day later', async () => {
    const hook = await service.webhook();
    const request = { caller: hook.caller, webhook_uuid: hook.uuid };
    const { secret } = await service.client.rotateSecret(request);
    await service.client.testWebhook(request);
    await waitUntil(() => hook.received().length === 1);
    const [{ body, headers }] = hook.received() as [ReturnType<typeof hook.received>[number]];
    for (const each of [secret, hook.secret]) new Webhook(each).verify(body, headers);
    await service.db.query(
      `UPDATE endpoint SET old_secrets = jsonb_set(old_secrets, '{0,until}', '"2020-01-01T00:00:00Z"') WHERE uuid = $1`,
      [hook.uuid],
    );
    await service.client.testWebhook(request);
    await waitUntil(() => hook.received().length === 2);
    const later = hook.received()[1]!;
    new Webhook(secret).verify(later.body, later.headers);
    expect(() => new Webhook(hook.secret).verify(later.body, later.headers)).toThrow();
  });

  it('that is deleted gets nothing more, and its deliveries are removed', async () => {
    const hook = await service.webhook();
    service.sink.answers.set(hook.path, status(500));
    await service.publish(callCompleted(hook.firmUuid));
    await waitUntil(() => hook.received().length === 1);
    await service.client.deleteWebhook({ caller: hook.caller, webhook_uuid: hook.uuid });
    await service.publish(callCompleted(hook.firmUuid));
    await expect(service.deliveries(hook)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await waitUntil(async () => {
      const left = await service.db.query('SELECT 1 FROM delivery WHERE endpoint_uuid = $1', [hook.uuid]);
      return left.length === 0;
    });
    expect(hook.received()).toHaveLength(1);
  });

  it('of another firm does not exist', async () => {
    const [hook, other] = [await service.webhook(), await service.webhook()];
    const request = { caller: other.caller, webhook_uuid: hook.uuid };
    const period = { from: '2026-01-01T00:00:00.000Z', to: '2026-01-02T00:00:00.000Z' };
    const attempts = [
      service.client.getWebhook(request),
      service.client.changeWebhook({ ...request, enabled: false }),
      service.client.deleteWebhook(request),
      service.client.rotateSecret(request),
      service.client.testWebhook(request),
      service.deliveries({ caller: other.caller, uuid: hook.uuid }),
      service.client.retryDelivery({ ...request, delivery_uuid: randomUUID() }),
      service.client.replay({ ...request, ...period }),
    ];
    for (const attempt of attempts) await expect(attempt).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const { items } = await service.client.listWebhooks({ caller: other.caller, page: 1, size: 10 });
    expect(items.map(({ uuid }) => uuid)).toEqual([other.uuid]);
    expect(items[0]).not.toHaveProperty('secret');
  });
});

describe('an erased call', () => {
  it('leaves no delivery but the news of its erasure, and late events of it are dropped', async () => {
    const hook = await service.webhook();
    service.sink.answers.set(hook.path, status(500));
    const event = callCompleted(hook.firmUuid);
    await service.publish(event);
    await waitUntil(async () => (await service.deliveries(hook)).items[0]?.attempts === 1);
    service.sink.answers.set(hook.path, ok);
    const erasure = callErased(hook.firmUuid, event.subject);
    await service.publish(erasure);
    await waitUntil(() => hook.received().length === 2);
    await service.publish(callCompleted(hook.firmUuid, event.subject), { ...erasure });
    await waitUntil(async () => (await service.pendingEvents()) === 0);
    const { items } = await service.deliveries(hook);
    expect(items).toMatchObject([{ uuid: erasure.id, event: 'call.erased' }]);
    expect(JSON.parse(hook.received()[1]!.body)).toMatchObject({
      data: { call_uuid: event.subject, status: null, partner_call_id: null, failure: null },
    });
    const text = await service.db.query('SELECT body FROM delivery WHERE firm_uuid = $1', [hook.firmUuid]);
    expect(JSON.stringify(text)).not.toContain('crm-1');
  });
});

it('deliveries are removed after 30 days', async () => {
  const hook = await service.webhook();
  const [old, recent] = [callCompleted(hook.firmUuid), callCompleted(hook.firmUuid)];
  await service.publish(old, recent);
  await waitUntil(async () => (await service.deliveries(hook, ['delivered'])).count === 2);
  await service.db.query(`UPDATE delivery SET created_at = now() - interval '30 days 1 minute' WHERE uuid = $1`, [
    old.id,
  ]);
  await deliveries(service.db).prune(30, 100);
  expect((await service.deliveries(hook)).items.map(({ uuid }) => uuid)).toEqual([recent.id]);
});

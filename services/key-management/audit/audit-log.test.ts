import { randomUUID } from 'node:crypto';
import { openBus } from '@call-analysis/bus';
import { AuditEntryCreated, type Event } from '@call-analysis/events';
import { newContext, withContext } from '@call-analysis/runtime';
import { waitUntil } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import { admin, superuser, TestService, UNKNOWN_UUID } from '../test/test-service.ts';

const service = new TestService();

const NOT_FOUND = { kind: 'not-found', code: 'NOT_FOUND' };

it('an audit entry that another service publishes is recorded once, with the time and the request of its action', async () => {
  const [firm, user, campaign] = [randomUUID(), randomUUID(), randomUUID()];
  const entry = (action: string, time: string): Event => ({
    id: randomUUID(),
    source: 'ingest',
    type: AuditEntryCreated.type,
    time,
    subject: campaign,
    firmuuid: firm,
    priority: 0,
    requestid: `request-${action}`,
    data: { actor: user, action, address: '192.0.2.7' },
  });
  const created = entry('campaign.created', '2026-10-01T09:00:00.000Z');
  const started = entry('campaign.started', '2026-10-01T09:00:01.000Z');
  const bus = await openBus(service.config.bus, { name: 'test', log: service.log });
  try {
    const publish = (...events: Event[]) => service.database.transaction((tx) => bus.publish(tx, events));
    await publish(created);
    await waitUntil(async () => (await service.auditedActions({ firm_uuid: firm })).length === 1);
    await publish(created, started);
    await waitUntil(async () => (await service.auditedActions({ firm_uuid: firm })).includes('campaign.started'));
    const { entries } = await service.client.listAudit({ firm_uuid: firm, limit: 10 });
    const common = { actor: user, subject: campaign, address: '192.0.2.7', id: expect.any(String) };
    expect(entries).toEqual([
      { ...common, action: 'campaign.started', at: started.time, request_id: 'request-campaign.started' },
      { ...common, action: 'campaign.created', at: created.time, request_id: 'request-campaign.created' },
    ]);
  } finally {
    await bus.close();
  }
});

describe('the audit log', () => {
  it('records who did what to which subject, from which address and in which request, newest first', async () => {
    const context = newContext();
    await withContext(context, async () => {
      const firm_uuid = await service.newFirm();
      const { uuid } = await service.newKey(firm_uuid);
      await service.client.deleteKey({ actor: superuser, key_uuid: uuid });
      const { users } = await service.client.listUsers({ firm_uuid });
      const { entries } = await service.client.listAudit({ limit: 10 });
      const inRequest = { id: expect.any(String), request_id: context.requestId, at: expect.stringMatching(/Z$/) };
      const caller = { ...inRequest, actor: UNKNOWN_UUID, address: '192.0.2.7' };
      expect(entries).toEqual([
        { ...caller, action: 'api_key.deleted', subject: uuid },
        { ...caller, action: 'api_key.created', subject: uuid },
        { ...caller, action: 'user.created', subject: users[0]?.uuid },
        { ...inRequest, actor: 'admin', address: 'local', action: 'firm.created', subject: firm_uuid },
      ]);
    });
  });

  it('can be listed for one firm, and up to a number of entries', async () => {
    const one = await service.newFirm('One');
    const other = await service.newFirm('Other');
    await service.client.createUser({ firm_uuid: one, name: 'Aziza', role: 'ADMIN' });
    expect(await service.auditedActions({ firm_uuid: one })).toEqual(['user.created', 'firm.created']);
    expect(await service.auditedActions({ firm_uuid: other })).toEqual(['firm.created']);
    expect(await service.auditedActions({ firm_uuid: one, limit: 1 })).toEqual(['user.created']);
    expect(await service.auditedActions({ limit: 2 })).toEqual(['user.created', 'firm.created']);
  });

  it('of one firm names its users who act or are acted on, removed ones included, and no users of other firms', async () => {
    const [firm_uuid, other] = [await service.newFirm('One'), await service.newFirm('Other')];
    const aziza = await service.client.createUser({ firm_uuid, name: 'Aziza', role: 'ADMIN' });
    await service.client.createUser({ firm_uuid: other, name: 'Bakyt', role: 'ADMIN' });
    await service.client.removeUser({ user_uuid: aziza.uuid });
    expect((await service.client.listAudit({ firm_uuid, limit: 10 })).names).toEqual({ [aziza.uuid]: 'Aziza' });
    expect((await service.client.listAudit({ limit: 10 })).names).toEqual({});
  });

  it('of an unknown firm is not found', async () => {
    await expect(service.client.listAudit({ firm_uuid: UNKNOWN_UUID, limit: 1 })).rejects.toMatchObject({
      ...NOT_FOUND,
      message: 'There is no such firm. Check the uuid.',
    });
  });

  it('records which segment type was added to a firm', async () => {
    const firm_uuid = await service.newFirm();
    await service.client.addSegmentType({ firm_uuid, name: ' Сатуу/В2В ' });
    const { entries } = await service.client.listAudit({ firm_uuid, limit: 1 });
    expect(entries).toMatchObject([{ action: 'segment_type.added', subject: `${firm_uuid}/Сатуу/В2В` }]);
  });

  it('is part of each action: an action that it refuses has no effect', async () => {
    const firm_uuid = await service.newFirm();
    const kept = await service.client.createUser({ firm_uuid, name: 'Bakyt', role: 'ADMIN' });
    await service.withRefusingAuditLog(async () => {
      const actions = [
        service.client.createKey({ actor: superuser, firm_uuid }),
        service.client.createFirm({ name: 'Other', country: 'US' }),
        service.client.createUser({ firm_uuid, name: 'Aziza', role: 'ADMIN' }),
        service.client.addSegmentType({ firm_uuid, name: 'Retention' }),
        service.client.removeUser({ user_uuid: kept.uuid }),
      ];
      for (const outcome of await Promise.allSettled(actions)) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: { kind: 'internal' } });
      }
    });
    const { firms } = await service.client.listFirms({});
    expect(firms.map((firm) => firm.segment_types)).toEqual([['Sales', 'Support']]);
    expect((await service.client.listUsers({ firm_uuid })).users).toEqual([kept]);
    expect(await service.database.query('SELECT 1 FROM api_key')).toEqual([]);
  });

  it('does not record refused actions', async () => {
    const firm_uuid = await service.newFirm();
    await Promise.allSettled([
      service.client.createKey({ actor: admin, firm_uuid }),
      service.client.deleteKey({ actor: superuser, key_uuid: UNKNOWN_UUID }),
      service.client.createFirm({ uuid: firm_uuid, name: 'Other', country: 'US' }),
    ]);
    expect(await service.auditedActions()).toEqual(['firm.created']);
  });
});

import { randomUUID } from 'node:crypto';
import { openBus } from '@call-analysis/bus';
import { AuditEntryCreated, type Event } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { expect, it } from '@jest/globals';
import { ServiceUnderTest } from '../test/test-service.ts';

const service = new ServiceUnderTest();

it('what another service tells was done stands in the audit log once, as of when and under the request that did it', async () => {
  const [firm, user, campaign] = [randomUUID(), randomUUID(), randomUUID()];
  const deed = (action: string, time: string): Event => ({
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
  const created = deed('campaign.created', '2026-10-01T09:00:00.000Z');
  const started = deed('campaign.started', '2026-10-01T09:00:01.000Z');
  const bus = await openBus(service.config.bus, { name: 'test', log: service.log });
  try {
    const publish = (...events: Event[]) => service.database.transaction((tx) => bus.publish(tx, events));
    await publish(created);
    await waitUntil(async () => (await service.auditedActions({ firm_uuid: firm })).length === 1);
    await publish(created, started);
    await waitUntil(async () => (await service.auditedActions({ firm_uuid: firm })).includes('campaign.started'));
    const { entries } = await service.client.listAudit({ firm_uuid: firm, limit: 10 });
    const of = { actor: user, subject: campaign, address: '192.0.2.7' };
    expect(entries).toEqual([
      { ...of, action: 'campaign.started', at: started.time, request_id: 'request-campaign.started' },
      { ...of, action: 'campaign.created', at: created.time, request_id: 'request-campaign.created' },
    ]);
  } finally {
    await bus.close();
  }
});

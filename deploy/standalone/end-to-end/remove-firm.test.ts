import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { long } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { administrator, type Batch, type Client, newFirm } from '../test/client/new-firm.ts';
import { eventually, retryUntilSuccess } from '../test/client/retry.ts';
import { silence } from '../test/client/silence.ts';
import { csvOf, metadataOf } from '../test/client/valid-uploads.ts';
import { isDistributed, startSystemUnderTest, type SystemUnderTest } from '../test/system/system-under-test.ts';

const CALLS = 40;
const ENDS_AFTER_KILLS = long || isDistributed ? 3 : 1;

let service: SystemUnderTest;

beforeAll(async () => {
  service = await startSystemUnderTest({ WEBHOOK_ALLOW_PRIVATE: 'true' });
});
afterAll(() => service?.stop());

interface Tenant {
  readonly client: Client;
  /** Occurs in all data that the firm has entered. */
  readonly word: string;
  readonly phone: string;
  readonly apiKey: string;
}

/** A firm with something in every service. */
async function newTenant(): Promise<Tenant> {
  // PostgreSQL's text search would read an e between digits as part of a number.
  const word = randomBytes(8).toString('hex').replaceAll('e', 'f');
  const phone = `99${String(Math.random()).slice(2, 14).padEnd(12, '7')}`;
  const client = await newFirm(service);
  const staff = await newFirm(service, { role: 'SUPERUSER' });
  const { api_key: apiKey } = await staff.call<{ api_key: string }>('POST', '/external/api/v1/api-key', {
    firm_uuid: client.firmUuid,
  });
  await client.call('PATCH', '/api/v1/firm', { segment_types: ['support', `support ${word}`] });
  await client.call('POST', '/api/v1/users', { name: `User ${word}`, role: 'ADMIN' });
  await client.call('POST', '/api/v1/webhooks', { url: `http://127.0.0.1:9/${word}`, events: ['call.completed'] });
  const { items } = await client.call<{ items: { uuid: string }[] }>('GET', '/api/v1/scorecards');
  const card = await client.call<{ sections: unknown[] }>('GET', `/api/v1/scorecards/${items[0]!.uuid}`);
  await client.call('POST', '/api/v1/scorecards', {
    name: `Card ${word}`,
    // Questions of a new scorecard have no uuid yet.
    sections: JSON.parse(JSON.stringify(card.sections, (key, value: unknown) => (key === 'uuid' ? undefined : value))),
  });
  const campaign = await byKey(apiKey, 'POST', '/external/api/v1/call-campaign', { name: `Campaign ${word}` });
  await byKey(apiKey, 'POST', `/external/api/v1/call-campaign/${campaign['uuid']}/start`);

  const rows = Array.from({ length: CALLS }, (_, n) => ({
    client_phone_number: phone,
    operator_name: `Operator ${word}`,
    anonymized_text: `<operator>Good morning ${word}<client>Where is my ${word}?`,
    partner_call_id: `${word}-${n}`,
  }));
  const metadata_key = await client.upload(csvOf([...rows, { ...rows[0]!, partner_call_id: 'x', start_time: word }]));
  await client.call('POST', '/api/v1/calls/process-upload', { metadata_key, on_error: 'skip' });
  // Opened and never processed.
  await client.upload(csvOf(rows));
  const metadata = metadataOf(`${word}.wav`, { client_phone_number: phone, operator_name: `Operator ${word}` });
  const recorded = await client.uploadRecording<{ audio_id: string }>(
    new Blob([new Uint8Array(silence(1))]),
    `${word}.wav`,
    metadata,
  );
  expect(recorded.status).toBe(200);
  await client.call('POST', `/api/v1/calls/${recorded.body.audio_id}/comments`, { text: `A comment with ${word}` });
  return { client, word, phone, apiKey };
}

async function byKey(apiKey: string, method: string, path: string, json?: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(service.url + path, {
    method,
    headers: { 'x-service-api-key': apiKey, ...(json !== undefined && { 'content-type': 'application/json' }) },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  return { httpStatus: response.status, ...((await response.json()) as object) };
}

/** All calls have ended, and the deliveries that say so are stored. */
async function completed({ client }: Tenant): Promise<void> {
  const { items } = await client.call<{ items: { uuid: string }[] }>('GET', '/api/v1/webhooks');
  await eventually(async () => {
    const calls = await client.listCalls('status=completed');
    const deliveries = await client.call<{ count: number }>('GET', `/api/v1/webhooks/${items[0]!.uuid}/deliveries`);
    return calls.count === CALLS + 1 && deliveries.count === CALLS + 1;
  });
}

function remove({ client }: Tenant, name = 'Test', waitMs = 120_000) {
  const admin = administrator(service.administration);
  return admin.removeFirm(client.firmUuid, name, waitMs).finally(() => admin.close());
}

/** Remaining data of a firm, except the records of its removal, which contain only its uuid. */
async function tracesOf({ client, word, phone }: Tenant): Promise<string[]> {
  const traces = await service.tracesOf([client.firmUuid, word, phone]);
  const lasting =
    /^(key_management\.(audit_entry|firm_removal|firm_removal_report)|\w+\.(erased_subject|firm_removal)|\w+\.(job_common|outbox)): /;
  return traces.filter((trace) => !(lasting.test(trace) && trace.endsWith(client.firmUuid)));
}

async function expectNothingLeft(tenant: Tenant): Promise<void> {
  let traces: string[] = [];
  // A request that was in progress may end later.
  const isClean = async () => (traces = await tracesOf(tenant)).length === 0;
  await eventually(isClean, 500).catch(() => {});
  expect(traces).toEqual([]);
}

describe('a removed firm', () => {
  it('leaves nothing in any table, queue or file but the audit entry and the receipt; another firm keeps everything', async () => {
    const [gone, kept] = await Promise.all([newTenant(), newTenant()]);
    await Promise.all([completed(gone), completed(kept)]);
    expect((await tracesOf(gone)).length).toBeGreaterThan(20);
    await expect(remove(gone, 'Another name')).rejects.toMatchObject({ code: 'CONFIRMATION_MISMATCH' });
    expect((await gone.client.request('GET', '/api/v1/firm')).status).toBe(200);
    expect((await byKey(gone.apiKey, 'GET', '/external/api/v1/calls'))['httpStatus']).toBe(200);

    const keptBefore = await tracesOf(kept);
    const receipt = await remove(gone);
    // Although gateways cache users and keys.
    expect((await gone.client.request('GET', '/api/v1/firm')).status).toBe(401);
    expect((await byKey(gone.apiKey, 'GET', '/external/api/v1/calls'))['code']).toBe('API_KEY_INVALID');
    expect(receipt.waiting_for).toEqual([]);
    expect(Date.parse(receipt.finished_at!)).toBeGreaterThanOrEqual(Date.parse(receipt.removed_at));
    const counted = new Map(receipt.removed.map(({ service: by, what, count }) => [`${by} ${what}`, count]));
    for (const [what, count] of Object.entries({
      'key-management firm': 1,
      'key-management user': 3,
      'key-management api_key': 1,
      'ingest call': CALLS + 1,
      'ingest batch': 1,
      'ingest campaign': 1,
      'ingest comment': 1,
      'ingest refused_file': 1,
      'webhooks webhook': 1,
      'webhooks webhook_delivery': CALLS + 1,
    })) {
      expect([what, counted.get(what)]).toEqual([what, count]);
    }
    await expectNothingLeft(gone);
    expect(await remove(gone)).toEqual(receipt);

    const entries = administrator(service.administration);
    const audited: string[] = [];
    for await (const { actor, action, address } of entries.listAudit({ firm_uuid: gone.client.firmUuid }, 100))
      audited.push(`${actor} ${action} ${address}`);
    entries.close();
    expect(audited).toEqual(['admin firm.removed local', 'admin firm.created local']);
    expect((await kept.client.listCalls(`q=${kept.word}`)).count).toBe(CALLS);
    // Queues, and what is computed from the calls in the background, change by themselves.
    const isLasting = (trace: string) => !/job_common|facts|_change|queued_words|statistic_/.test(trace);
    expect((await tracesOf(kept)).filter(isLasting)).toEqual(keptBefore.filter(isLasting));
  });

  it('is gone although its calls were being processed and the service was killed while it removed them', async () => {
    const tenant = await newTenant();
    // The first kill happens while ingest cannot remove the calls, because their rows are locked.
    await service.tables('ingest').transaction(async (tx) => {
      await tx.query('SELECT uuid FROM ingest.call WHERE firm_uuid = $1 FOR UPDATE', [tenant.client.firmUuid]);
      expect((await remove(tenant, 'Test', 0)).waiting_for).toContain('ingest');
      await service.kill();
    });
    await service.revive();
    for (let kills = 1; kills < ENDS_AFTER_KILLS; kills++) {
      await pause(120 * kills);
      await service.kill();
      await service.revive();
    }
    const receipt = await retryUntilSuccess(async () => {
      const seen = await remove(tenant, 'Test', 1_000);
      if (seen.finished_at === null) throw new Error(`waits for ${seen.waiting_for.join(', ')}`);
      return seen;
    });
    expect(receipt.waiting_for).toEqual([]);
    await expectNothingLeft(tenant);
  });

  it('takes its jobs along, and a batch that is being read is not accepted any more', async () => {
    const tenant = await newTenant();
    const { client, phone } = tenant;
    await client.call('POST', '/api/v1/calls/analyze', { filter: { client_phone_number: phone } });
    const rows = Array.from({ length: 20_000 }, (_, n) => ({ client_phone_number: phone, partner_call_id: `b${n}` }));
    const metadata_key = await client.upload(csvOf(rows));
    const accepting = client.request<{ data?: Batch }>('POST', '/api/v1/calls/process-upload', { metadata_key });
    await pause(100);
    expect((await remove(tenant)).finished_at).not.toBeNull();
    await accepting;
    await expectNothingLeft(tenant);
  });
});

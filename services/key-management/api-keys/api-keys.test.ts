import { type Bus, openBus } from '@call-analysis/bus';
import { ApiKeyRevoked } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { admin, engineer, UNKNOWN_UUID, TestService, superuser } from '../test/test-service.ts';

const service = new TestService();

const FORBIDDEN = { kind: 'forbidden', code: 'FORBIDDEN' };
const NOT_FOUND = { kind: 'not-found', code: 'NOT_FOUND' };
const KEY_EXISTS = { kind: 'conflict', code: 'KEY_EXISTS' };

describe('creating a key', () => {
  it('returns the full key once, and stores only its hash', async () => {
    const firmUuid = await service.newFirm();
    const reply = await service.client.createKey({ actor: superuser, firm_uuid: firmUuid.toUpperCase() });
    expect(reply).toEqual({
      api_key: expect.stringMatching(/^.{7}\$[0-9A-Za-z]{43}$/),
      key_prefix: firmUuid.slice(0, 7),
      firm_uuid: firmUuid,
      firm_name: 'Orient Telecom',
    });
    expect(reply.api_key.startsWith(`${reply.key_prefix}$`)).toBe(true);
    const [row] = await service.database.query<{ row: string; bytes: number }>(
      'SELECT api_key::text AS row, length(hash) AS bytes FROM api_key',
    );
    expect(row?.bytes).toBe(32);
    expect(row?.row).not.toContain(reply.api_key.slice(8));
    expect(await service.verdictFor(reply.api_key)).toBe('VALID');
  });

  it.each([
    ['SUPERUSER', true],
    ['WORKFLOW_ENGINEER', true],
    ['ADMIN', false],
    ['', false],
  ])('with the role %j is allowed: %s', async (role, allowed) => {
    const firm_uuid = await service.newFirm();
    const created = service.client.createKey({ actor: { ...superuser, role }, firm_uuid });
    if (allowed) await expect(created).resolves.toMatchObject({ firm_uuid });
    else await expect(created).rejects.toMatchObject(FORBIDDEN);
  });

  it('checks the role before it looks up the firm', async () => {
    await expect(service.client.createKey({ actor: admin, firm_uuid: UNKNOWN_UUID })).rejects.toMatchObject(FORBIDDEN);
    await expect(service.client.createKey({ actor: engineer, firm_uuid: UNKNOWN_UUID })).rejects.toMatchObject(
      NOT_FOUND,
    );
  });

  it('is refused while the firm has an active key, and possible as soon as that key is deleted', async () => {
    const firm_uuid = await service.newFirm();
    const { uuid, apiKey } = await service.newKey(firm_uuid);
    await expect(service.client.createKey({ actor: superuser, firm_uuid })).rejects.toMatchObject(KEY_EXISTS);
    expect(await service.verdictFor(apiKey)).toBe('VALID');
    await service.client.deleteKey({ actor: superuser, key_uuid: uuid });
    const next = await service.newKey(firm_uuid);
    expect(next.apiKey).not.toBe(apiKey);
  });

  it('succeeds once when it is requested several times concurrently, also for a firm without an API user', async () => {
    for (let round = 0; round < 5; round++) {
      const firm_uuid = await service.newFirm(`Firm ${round}`);
      const outcomes = await Promise.allSettled(
        Array.from({ length: 8 }, () => service.client.createKey({ actor: superuser, firm_uuid })),
      );
      expect(outcomes.filter((each) => each.status === 'fulfilled')).toHaveLength(1);
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(KEY_EXISTS);
      }
      const { users } = await service.client.listUsers({ firm_uuid });
      expect(users).toEqual([expect.objectContaining({ web_api_only: true, role: 'ADMIN', firm_uuid })]);
    }
  });

  it('creates an API user only when the firm has none', async () => {
    const firm_uuid = await service.newFirm();
    const first = await service.newKey(firm_uuid);
    await service.client.deleteKey({ actor: superuser, key_uuid: first.uuid });
    const second = await service.newKey(firm_uuid);
    const { users } = await service.client.listUsers({ firm_uuid });
    expect(users).toHaveLength(1);
    expect(await service.verify(second.apiKey)).toEqual({
      verdict: 'VALID',
      key_uuid: second.uuid,
      firm_uuid,
      user_uuid: users[0]?.uuid,
    });
  });
});

describe('listing keys', () => {
  it('returns the active keys of all firms, newest first, in pages', async () => {
    const created: string[] = [];
    for (let number = 0; number < 5; number++) {
      const { uuid } = await service.newKey(await service.newFirm(`Firm ${number}`));
      created.unshift(uuid);
    }
    const [deleted = '', ...active] = created;
    await service.client.deleteKey({ actor: superuser, key_uuid: deleted });
    const pages = [];
    for (const page of [1, 2, 3]) {
      const { count, items } = await service.client.listKeys({ actor: superuser, page, size: 2 });
      expect(count).toBe(4);
      pages.push(items.map((item) => item.uuid));
    }
    expect(pages).toEqual([active.slice(0, 2), active.slice(2), []]);
  });

  it('has a stable order of keys that were created at the same instant, so that no page repeats or skips one', async () => {
    for (let number = 0; number < 6; number++) await service.newKey(await service.newFirm(`Firm ${number}`));
    await service.database.query("UPDATE api_key SET created_at = '2026-01-01T00:00:00Z'");
    const seen = [];
    for (const page of [1, 2, 3]) {
      const { items } = await service.client.listKeys({ actor: superuser, page, size: 2 });
      seen.push(...items.map((item) => item.uuid));
    }
    expect(seen).toEqual([...new Set(seen)].sort().reverse());
    expect(seen).toHaveLength(6);
  });

  it('returns only what is not secret about a key', async () => {
    const firm_uuid = await service.newFirm();
    await service.client.createKey({ actor: superuser, firm_uuid });
    const [row] = await service.database.query<{ uuid: string }>('SELECT uuid FROM api_key');
    const { items } = await service.client.listKeys({ actor: superuser, page: 1, size: 10 });
    expect(items).toEqual([
      expect.objectContaining({
        uuid: row?.uuid,
        key_prefix: firm_uuid.slice(0, 7),
        is_active: true,
        firm_uuid,
        firm_name: 'Orient Telecom',
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      }),
    ]);
    expect(items[0]?.last_used).toBeUndefined();
  });

  it('accepts the greatest page number', async () => {
    await service.newKey(await service.newFirm());
    expect(await service.client.listKeys({ actor: superuser, page: 2_147_483_647, size: 100 })).toMatchObject({
      count: 1,
      items: [],
    });
  });

  it.each([engineer, admin])('is refused for the role $role', async (actor) => {
    await expect(service.client.listKeys({ actor, page: 1, size: 10 })).rejects.toMatchObject(FORBIDDEN);
  });
});

describe('deleting a key', () => {
  it('takes effect immediately and permanently: the key is refused, no longer listed, and cannot be deleted again', async () => {
    const firm_uuid = await service.newFirm();
    const { uuid, apiKey } = await service.newKey(firm_uuid);
    await service.client.deleteKey({ actor: superuser, key_uuid: uuid });
    expect(await service.verify(apiKey)).toEqual({
      verdict: 'REVOKED',
      key_uuid: '',
      firm_uuid: '',
      user_uuid: '',
    });
    expect(await service.client.listKeys({ actor: superuser, page: 1, size: 10 })).toMatchObject({ count: 0 });
    await expect(service.client.deleteKey({ actor: superuser, key_uuid: uuid })).rejects.toMatchObject(NOT_FOUND);
    const [row] = await service.database.query('SELECT enabled, deleted_at IS NOT NULL AS dated FROM api_key');
    expect(row).toEqual({ enabled: false, dated: true });
  });

  it('with an unknown uuid is not found', async () => {
    await expect(service.client.deleteKey({ actor: superuser, key_uuid: UNKNOWN_UUID })).rejects.toMatchObject(
      NOT_FOUND,
    );
  });

  it.each([engineer, admin])('is refused for the role $role', async (actor) => {
    const { uuid, apiKey } = await service.newKey(await service.newFirm());
    await expect(service.client.deleteKey({ actor, key_uuid: uuid })).rejects.toMatchObject(FORBIDDEN);
    expect(await service.verdictFor(apiKey)).toBe('VALID');
  });

  it('succeeds once when it is requested several times concurrently', async () => {
    const { uuid } = await service.newKey(await service.newFirm());
    const outcomes = await Promise.allSettled(
      Array.from({ length: 5 }, () => service.client.deleteKey({ actor: superuser, key_uuid: uuid })),
    );
    expect(outcomes.filter((each) => each.status === 'fulfilled')).toHaveLength(1);
    expect((await service.auditedActions()).filter((action) => action === 'api_key.deleted')).toHaveLength(1);
  });
});

describe('a revocation', () => {
  let listener: Bus;

  beforeAll(async () => {
    listener = await openBus(service.config.bus, { name: 'listener', log: service.log });
  });

  afterAll(async () => {
    await listener.close();
  });

  it('is published with the key and its firm', async () => {
    const received: unknown[] = [];
    const listening = await listener.listen(ApiKeyRevoked, (event) => void received.push(event));
    const firmUuid = await service.newFirm();
    const { uuid } = await service.newKey(firmUuid);
    await service.client.deleteKey({ actor: superuser, key_uuid: uuid });
    await waitUntil(() => received.length > 0);
    await listening.stop();
    expect(received).toEqual([
      expect.objectContaining({
        type: 'api-key.revoked.v1',
        source: 'key-management',
        subject: uuid,
        firmuuid: firmUuid,
        data: { key_uuid: uuid },
      }),
    ]);
  });

  it('that the audit log refuses is not published, and the key stays valid', async () => {
    const received: unknown[] = [];
    const listening = await listener.listen(ApiKeyRevoked, (event) => void received.push(event));
    const { uuid, apiKey } = await service.newKey(await service.newFirm());
    await service.withRefusingAuditLog(async () => {
      const deleted = service.client.deleteKey({ actor: superuser, key_uuid: uuid });
      await expect(deleted).rejects.toMatchObject({ kind: 'internal' });
    });
    expect(await service.verdictFor(apiKey)).toBe('VALID');
    await service.client.deleteKey({ actor: superuser, key_uuid: uuid });
    await waitUntil(() => received.length > 0);
    await listening.stop();
    expect(received).toHaveLength(1);
  });
});

describe('verifying a key', () => {
  const tooLong = `abcdef1$${'x'.repeat(505)}`;
  it.each(['', 'abcdef1', 'abcdef1$', 'abc$def', '$$$', tooLong])(
    'of any other form is MALFORMED: %j',
    async (apiKey) => {
      expect(await service.verdictFor(apiKey)).toBe('MALFORMED');
    },
  );

  it('that was never created is UNKNOWN, even when it resembles a valid key', async () => {
    const { apiKey } = await service.newKey(await service.newFirm());
    const last = apiKey.endsWith('0') ? '1' : '0';
    const similar = [`${apiKey} `, apiKey.slice(0, -1), `${apiKey.slice(0, -1)}${last}`, `zzzzzzz${apiKey.slice(7)}`];
    for (const wrong of [...similar, 'abcdef1$x', '*******$\0', 'ключ-не$тот']) {
      expect(await service.verdictFor(wrong)).toBe('UNKNOWN');
    }
  });

  it('that was disabled in the database is REVOKED', async () => {
    const { apiKey } = await service.newKey(await service.newFirm());
    await service.database.query('UPDATE api_key SET enabled = false');
    expect(await service.verdictFor(apiKey)).toBe('REVOKED');
  });
});

describe('verifying many keys', () => {
  const verdictsFor = async (api_keys: string[]) => (await service.client.verifyKeys({ api_keys })).verdicts;

  it('returns a verdict for each key in the order of the keys, independent of the other keys', async () => {
    const first = await service.newKey(await service.newFirm('First'));
    const deleted = await service.newKey(await service.newFirm('Second'));
    const third = await service.newKey(await service.newFirm('Third'));
    await service.client.deleteKey({ actor: superuser, key_uuid: deleted.uuid });
    const keys = [third.apiKey, 'no key', deleted.apiKey, 'abcdef1$x', first.apiKey, '', third.apiKey, 'abcdef1$x'];
    const verdicts = await verdictsFor(keys);
    expect(verdicts.map(({ verdict, key_uuid }) => [verdict, key_uuid])).toEqual([
      ['VALID', third.uuid],
      ['MALFORMED', ''],
      ['REVOKED', ''],
      ['UNKNOWN', ''],
      ['VALID', first.uuid],
      ['MALFORMED', ''],
      ['VALID', third.uuid],
      ['UNKNOWN', ''],
    ]);
    for (const [index, apiKey] of keys.entries()) expect(verdicts[index]).toEqual(await service.verify(apiKey));
  });

  it('accepts 0 to 200 keys', async () => {
    const unknown = Array.from({ length: 200 }, (_, number) => `abcdef1$${number}`);
    const { apiKey, uuid } = await service.newKey(await service.newFirm());
    const verdicts = await verdictsFor([...unknown.slice(1), apiKey]);
    expect(verdicts.slice(0, -1)).toEqual(
      unknown.slice(1).map(() => expect.objectContaining({ verdict: 'UNKNOWN', key_uuid: '' })),
    );
    expect(verdicts.at(-1)).toMatchObject({ verdict: 'VALID', key_uuid: uuid });
    await expect(verdictsFor([...unknown, apiKey])).rejects.toMatchObject({
      kind: 'invalid',
      code: 'VALIDATION_ERROR',
    });
    expect(await verdictsFor([])).toEqual([]);
  });
});

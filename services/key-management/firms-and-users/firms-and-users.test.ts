import { newContext, withContext } from '@call-analysis/runtime';
import { describe, expect, it } from '@jest/globals';
import { admin, NOBODY, ServiceUnderTest, superuser } from '../test/test-service.ts';

const service = new ServiceUnderTest();

const NOT_FOUND = { kind: 'not-found', code: 'NOT_FOUND' };

describe('firms', () => {
  it('are created with what they were given, and found and listed so', async () => {
    const uuid = 'AAAAAAAA-BBBB-4CCC-8DDD-EEEEEEEEEEEE';
    const segment_types = ['Сатуу', ' Колдоо', 'Сатуу', 'Аба'];
    const given = { uuid, name: '  Кыргыз Телеком ', country: 'kg', segment_types };
    const firm = {
      uuid: uuid.toLowerCase(),
      name: 'Кыргыз Телеком',
      country: 'KG',
      segment_types: ['Сатуу', 'Колдоо', 'Аба'],
    };
    expect(await service.client.createFirm(given)).toEqual(firm);
    expect(await service.client.findFirm({ firm_uuid: uuid })).toMatchObject({ firm });
    expect(await service.client.listFirms({})).toEqual({ firms: [firm] });
  });

  it('get a random uuid when none is given', async () => {
    const uuid = await service.newFirm();
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('with a uuid that is taken are refused, and the first one stays as it is', async () => {
    const uuid = await service.newFirm();
    const again = service.client.createFirm({ uuid, name: 'Other', country: 'US', segment_types: ['New'] });
    await expect(again).rejects.toMatchObject({ kind: 'conflict', code: 'FIRM_EXISTS' });
    expect((await service.client.findFirm({ firm_uuid: uuid })).firm).toMatchObject({
      name: 'Orient Telecom',
      segment_types: ['Sales', 'Support'],
    });
  });

  it('that nobody created are absent, not an error', async () => {
    expect((await service.client.findFirm({ firm_uuid: NOBODY })).firm ?? null).toBeNull();
  });

  it('learn a segment type once, however often it is added', async () => {
    const firm_uuid = await service.newFirm();
    const add = () => service.client.addSegmentType({ firm_uuid, name: ' Retention ' });
    await Promise.all([add(), add(), add(), add()]);
    expect(await service.client.addSegmentType({ firm_uuid, name: 'Sales' })).toMatchObject({
      segment_types: ['Sales', 'Support', 'Retention'],
    });
    expect((await service.auditedActions()).filter((action) => action === 'segment_type.added')).toHaveLength(1);
    const unknown = service.client.addSegmentType({ firm_uuid: NOBODY, name: 'Sales' });
    await expect(unknown).rejects.toMatchObject(NOT_FOUND);
  });
});

describe('users', () => {
  it('are created in a firm and found by uuid', async () => {
    const firm_uuid = await service.newFirm();
    const user = await service.client.createUser({ firm_uuid, name: ' Aziza ', role: 'WORKFLOW_ENGINEER' });
    expect(user).toEqual({
      uuid: expect.any(String),
      firm_uuid,
      name: 'Aziza',
      role: 'WORKFLOW_ENGINEER',
      web_api_only: false,
    });
    expect((await service.client.findUser({ user_uuid: user.uuid.toUpperCase() })).user).toEqual(user);
    expect((await service.client.listUsers({ firm_uuid })).users).toEqual([user]);
  });

  it('are removed once, by the name of the administrator, and are then absent', async () => {
    const firm_uuid = await service.newFirm();
    const user = await service.client.createUser({ firm_uuid, name: 'Aziza', role: 'ADMIN' });
    const removed = await service.client.removeUser({ user_uuid: user.uuid.toUpperCase() });
    expect(removed).toEqual({ user, removed_at: expect.stringMatching(/^\d{4}-.*Z$/) });
    expect(Date.now() - Date.parse(removed.removed_at)).toBeLessThan(120_000);
    expect((await service.client.findUser({ user_uuid: user.uuid })).user ?? null).toBeNull();
    expect((await service.client.listUsers({ firm_uuid })).users).toEqual([]);
    for (const user_uuid of [user.uuid, NOBODY]) {
      await expect(service.client.removeUser({ user_uuid })).rejects.toMatchObject({
        ...NOT_FOUND,
        message: 'There is no such user. Check the uuid.',
      });
    }
    const { entries } = await service.client.listAudit({ firm_uuid, limit: 1 });
    expect(entries).toMatchObject([{ actor: 'admin', address: 'local', action: 'user.removed', subject: user.uuid }]);
    expect((await service.auditedActions()).filter((action) => action === 'user.removed')).toHaveLength(1);
  });

  it('in whose name an API key acts stay: without them the key would go on as before', async () => {
    const firm_uuid = await service.newFirm();
    const { apiKey } = await service.newKey(firm_uuid);
    const { users } = await service.client.listUsers({ firm_uuid });
    const removed = service.client.removeUser({ user_uuid: users[0]!.uuid });
    await expect(removed).rejects.toMatchObject({
      kind: 'conflict',
      code: 'API_USER',
      message: expect.stringMatching(/Delete that key/),
    });
    expect((await service.client.listUsers({ firm_uuid })).users).toEqual(users);
    expect(await service.verdictOn(apiKey)).toBe('VALID');
    expect(await service.auditedActions()).not.toContain('user.removed');
  });

  it('that were removed are absent', async () => {
    const firm_uuid = await service.newFirm();
    const { uuid: user_uuid } = await service.client.createUser({ firm_uuid, name: 'Aziza', role: 'ADMIN' });
    await service.database.query('UPDATE firm_user SET deleted_at = now()');
    expect((await service.client.findUser({ user_uuid })).user ?? null).toBeNull();
    expect((await service.client.findUser({ user_uuid: NOBODY })).user ?? null).toBeNull();
    expect((await service.client.listUsers({ firm_uuid })).users).toEqual([]);
  });

  it('of a firm that does not exist are not found and not created', async () => {
    const created = service.client.createUser({ firm_uuid: NOBODY, name: 'Aziza', role: 'ADMIN' });
    await expect(created).rejects.toMatchObject(NOT_FOUND);
    await expect(service.client.listUsers({ firm_uuid: NOBODY })).rejects.toMatchObject(NOT_FOUND);
    expect(await service.database.query('SELECT 1 FROM firm_user')).toEqual([]);
  });
});

describe('the audit log', () => {
  it('says who did what to which thing, from where and in which request, newest first', async () => {
    const context = newContext();
    await withContext(context, async () => {
      const firm_uuid = await service.newFirm();
      const { uuid } = await service.newKey(firm_uuid);
      await service.client.deleteKey({ actor: superuser, key_uuid: uuid });
      const { users } = await service.client.listUsers({ firm_uuid });
      const { entries } = await service.client.listAudit({ limit: 10 });
      const by = { request_id: context.requestId, at: expect.stringMatching(/Z$/) };
      const caller = { ...by, actor: NOBODY, address: '192.0.2.7' };
      expect(entries).toEqual([
        { ...caller, action: 'api_key.deleted', subject: uuid },
        { ...caller, action: 'api_key.created', subject: uuid },
        { ...caller, action: 'user.created', subject: users[0]?.uuid },
        { ...by, actor: 'admin', address: 'local', action: 'firm.created', subject: firm_uuid },
      ]);
    });
  });

  it('is asked for one firm, and for so many entries', async () => {
    const one = await service.newFirm('One');
    const other = await service.newFirm('Other');
    await service.client.createUser({ firm_uuid: one, name: 'Aziza', role: 'ADMIN' });
    expect(await service.auditedActions({ firm_uuid: one })).toEqual(['user.created', 'firm.created']);
    expect(await service.auditedActions({ firm_uuid: other })).toEqual(['firm.created']);
    expect(await service.auditedActions({ firm_uuid: one, limit: 1 })).toEqual(['user.created']);
    expect(await service.auditedActions({ limit: 2 })).toEqual(['user.created', 'firm.created']);
  });

  it('of a firm that nobody created is not empty but not found', async () => {
    await expect(service.client.listAudit({ firm_uuid: NOBODY, limit: 1 })).rejects.toMatchObject({
      ...NOT_FOUND,
      message: 'There is no such firm. Check the uuid.',
    });
  });

  it('says which segment type a firm has learnt', async () => {
    const firm_uuid = await service.newFirm();
    await service.client.addSegmentType({ firm_uuid, name: ' Сатуу/В2В ' });
    const { entries } = await service.client.listAudit({ firm_uuid, limit: 1 });
    expect(entries).toMatchObject([{ action: 'segment_type.added', subject: `${firm_uuid}/Сатуу/В2В` }]);
  });

  it('is part of the deed: what cannot be recorded does not happen', async () => {
    const firm_uuid = await service.newFirm();
    const kept = await service.client.createUser({ firm_uuid, name: 'Bakyt', role: 'ADMIN' });
    await service.withoutAuditLog(async () => {
      const deeds = [
        service.client.createKey({ actor: superuser, firm_uuid }),
        service.client.createFirm({ name: 'Other', country: 'US' }),
        service.client.createUser({ firm_uuid, name: 'Aziza', role: 'ADMIN' }),
        service.client.addSegmentType({ firm_uuid, name: 'Retention' }),
        service.client.removeUser({ user_uuid: kept.uuid }),
      ];
      for (const outcome of await Promise.allSettled(deeds)) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: { kind: 'internal' } });
      }
    });
    const { firms } = await service.client.listFirms({});
    expect(firms.map((firm) => firm.segment_types)).toEqual([['Sales', 'Support']]);
    expect((await service.client.listUsers({ firm_uuid })).users).toEqual([kept]);
    expect(await service.database.query('SELECT 1 FROM api_key')).toEqual([]);
  });

  it('has no word of what was refused', async () => {
    const firm_uuid = await service.newFirm();
    await Promise.allSettled([
      service.client.createKey({ actor: admin, firm_uuid }),
      service.client.deleteKey({ actor: superuser, key_uuid: NOBODY }),
      service.client.createFirm({ uuid: firm_uuid, name: 'Other', country: 'US' }),
    ]);
    expect(await service.auditedActions()).toEqual(['firm.created']);
  });
});

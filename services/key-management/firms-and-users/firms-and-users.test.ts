import { describe, expect, it } from '@jest/globals';
import { TestService, UNKNOWN_UUID } from '../test/test-service.ts';

const service = new TestService();

const NOT_FOUND = { kind: 'not-found', code: 'NOT_FOUND' };

describe('firms', () => {
  it('are created, found and listed with the given properties', async () => {
    const uuid = 'AAAAAAAA-BBBB-4CCC-8DDD-EEEEEEEEEEEE';
    const segment_types = ['Сатуу', ' Колдоо', 'Сатуу', 'Аба'];
    const given = { uuid, name: '  Кыргыз Телеком ', country: 'kg', segment_types };
    const firm = {
      uuid: uuid.toLowerCase(),
      name: 'Кыргыз Телеком',
      country: 'KG',
      segment_types: ['Сатуу', 'Колдоо', 'Аба'],
      language: 'en',
      time_zone: 'UTC',
      redaction: 'none',
      retention: {},
    };
    expect(await service.client.createFirm(given)).toEqual(firm);
    expect(await service.client.findFirm({ firm_uuid: uuid })).toMatchObject({ firm });
    expect(await service.client.listFirms({})).toEqual({ firms: [firm] });
  });

  it('have settings that change one by one; a change that changes nothing is not recorded', async () => {
    const firm_uuid = await service.newFirm();
    await service.client.updateFirm({ firm_uuid, language: 'ky', time_zone: 'asia/bishkek' });
    await service.client.updateFirm({ firm_uuid, redaction: 'stored', retention: { audio_days: 30, calls_days: 90 } });
    const changed = await service.client.updateFirm({ firm_uuid, language: 'ky', retention: { audio_days: 0 } });
    expect(changed).toMatchObject({
      language: 'ky',
      time_zone: 'Asia/Bishkek',
      redaction: 'stored',
      retention: { calls_days: 90 },
    });
    expect(changed.retention).not.toHaveProperty('audio_days', 30);
    expect((await service.client.findFirm({ firm_uuid })).firm).toEqual(changed);
    expect(await service.auditedActions({ firm_uuid })).toHaveLength(6);
    for (const wrong of [
      { language: 'de' },
      { time_zone: 'Mars/Base' },
      { time_zone: '+05:00' },
      { redaction: 'some' },
    ]) {
      const update = service.client.updateFirm({ firm_uuid, ...wrong });
      await expect(update).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    }
  });

  it('get a random uuid when none is given', async () => {
    const uuid = await service.newFirm();
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('with a uuid that is in use are refused, and the existing firm does not change', async () => {
    const uuid = await service.newFirm();
    const again = service.client.createFirm({ uuid, name: 'Other', country: 'US', segment_types: ['New'] });
    await expect(again).rejects.toMatchObject({ kind: 'conflict', code: 'FIRM_EXISTS' });
    expect((await service.client.findFirm({ firm_uuid: uuid })).firm).toMatchObject({
      name: 'Orient Telecom',
      segment_types: ['Sales', 'Support'],
    });
  });

  it('that do not exist are absent, not an error', async () => {
    expect((await service.client.findFirm({ firm_uuid: UNKNOWN_UUID })).firm ?? null).toBeNull();
  });

  it('get a segment type once when it is added several times', async () => {
    const firm_uuid = await service.newFirm();
    const add = () => service.client.addSegmentType({ firm_uuid, name: ' Retention ' });
    await Promise.all([add(), add(), add(), add()]);
    expect(await service.client.addSegmentType({ firm_uuid, name: 'Sales' })).toMatchObject({
      segment_types: ['Sales', 'Support', 'Retention'],
    });
    expect((await service.auditedActions()).filter((action) => action === 'segment_type.added')).toHaveLength(1);
    const unknown = service.client.addSegmentType({ firm_uuid: UNKNOWN_UUID, name: 'Sales' });
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
      operator_ids: [],
      created_at: expect.stringMatching(/Z$/),
    });
    expect((await service.client.findUser({ user_uuid: user.uuid.toUpperCase() })).user).toEqual(user);
    expect((await service.client.listUsers({ firm_uuid })).users).toEqual([user]);
  });

  it('are removed once, recorded as an action of the administrator, and are then absent', async () => {
    const firm_uuid = await service.newFirm();
    const user = await service.client.createUser({ firm_uuid, name: 'Aziza', role: 'ADMIN' });
    const began = Date.now();
    const removed = await service.client.removeUser({ user_uuid: user.uuid.toUpperCase() });
    expect(removed).toEqual({ user, removed_at: expect.stringMatching(/^\d{4}-.*Z$/) });
    expect(Date.parse(removed.removed_at)).toBeGreaterThan(began - 1_000);
    expect((await service.client.findUser({ user_uuid: user.uuid })).user ?? null).toBeNull();
    expect((await service.client.listUsers({ firm_uuid })).users).toEqual([]);
    for (const user_uuid of [user.uuid, UNKNOWN_UUID]) {
      await expect(service.client.removeUser({ user_uuid })).rejects.toMatchObject({
        ...NOT_FOUND,
        message: 'There is no such user. Check the uuid.',
      });
    }
    const { entries } = await service.client.listAudit({ firm_uuid, limit: 1 });
    expect(entries).toMatchObject([{ actor: 'admin', address: 'local', action: 'user.removed', subject: user.uuid }]);
    expect((await service.auditedActions()).filter((action) => action === 'user.removed')).toHaveLength(1);
  });

  it('on whose behalf an API key acts cannot be removed, because the key would continue to work', async () => {
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
    expect(await service.verdictFor(apiKey)).toBe('VALID');
    expect(await service.auditedActions()).not.toContain('user.removed');
  });

  it('that were removed are absent', async () => {
    const firm_uuid = await service.newFirm();
    const { uuid: user_uuid } = await service.client.createUser({ firm_uuid, name: 'Aziza', role: 'ADMIN' });
    await service.database.query('UPDATE firm_user SET deleted_at = now()');
    expect((await service.client.findUser({ user_uuid })).user ?? null).toBeNull();
    expect((await service.client.findUser({ user_uuid: UNKNOWN_UUID })).user ?? null).toBeNull();
    expect((await service.client.listUsers({ firm_uuid })).users).toEqual([]);
  });

  it('of a firm that does not exist are neither found nor created', async () => {
    const created = service.client.createUser({ firm_uuid: UNKNOWN_UUID, name: 'Aziza', role: 'ADMIN' });
    await expect(created).rejects.toMatchObject(NOT_FOUND);
    await expect(service.client.listUsers({ firm_uuid: UNKNOWN_UUID })).rejects.toMatchObject(NOT_FOUND);
    expect(await service.database.query('SELECT 1 FROM firm_user')).toEqual([]);
  });
});

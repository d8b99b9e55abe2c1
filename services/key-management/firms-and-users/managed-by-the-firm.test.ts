import { describe, expect, it } from '@jest/globals';
import { superuser, TestService, UNKNOWN_UUID } from '../test/test-service.ts';

const service = new TestService();

const NOT_FOUND = { kind: 'not-found', code: 'NOT_FOUND' };
const FORBIDDEN = { kind: 'forbidden', code: 'FORBIDDEN' };

async function newUser(firm_uuid: string, role = 'ADMIN', name = 'Aziza') {
  const { uuid } = await service.client.createUser({ firm_uuid, name, role });
  return { uuid, actor: { user_uuid: uuid, firm_uuid, role, address: '192.0.2.7' } };
}

async function allRefused(reason: object, requests: readonly Promise<unknown>[]): Promise<void> {
  const outcomes = await Promise.allSettled(requests);
  for (const outcome of outcomes) expect(outcome).toMatchObject({ status: 'rejected', reason });
}

async function newestEntry(firm_uuid: string) {
  return (await service.client.listAudit({ firm_uuid, limit: 1 })).entries[0];
}

describe('an ADMIN', () => {
  it('creates, renames and removes the users of the firm; the audit log names the ADMIN', async () => {
    const firm_uuid = await service.newFirm();
    const { uuid: admin, actor } = await newUser(firm_uuid);
    const user = await service.client.createUser({ actor, firm_uuid, name: ' Bakyt ', role: 'ADMIN' });
    const by = { actor: admin, address: '192.0.2.7', subject: user.uuid };
    expect(await newestEntry(firm_uuid)).toMatchObject({ ...by, action: 'user.created' });
    const renamed = await service.client.changeUser({ actor, user_uuid: user.uuid, name: 'Bakyt A.' });
    expect(renamed).toEqual({ ...user, name: 'Bakyt A.' });
    expect((await service.client.findUser({ user_uuid: user.uuid })).user).toEqual(renamed);
    const change = { ...by, action: 'user.changed', subject: `${user.uuid}/name` };
    expect(await newestEntry(firm_uuid)).toMatchObject(change);
    await service.client.createSignInCode({ actor, user_uuid: user.uuid });
    expect(await newestEntry(firm_uuid)).toMatchObject({ ...by, action: 'sign_in_link.created' });
    await service.client.removeUser({ actor, user_uuid: user.uuid });
    expect(await newestEntry(firm_uuid)).toMatchObject({ ...by, action: 'user.removed' });
  });

  it('never creates a user in another firm, even if the request names one', async () => {
    const [own, other] = [await service.newFirm('Own'), await service.newFirm('Other')];
    const { actor } = await newUser(own);
    const user = await service.client.createUser({ actor, firm_uuid: other, name: 'Bakyt', role: 'ADMIN' });
    expect(user.firm_uuid).toBe(own);
  });

  it('neither grants a role that acts on other firms, nor signs in as, changes or removes who has one', async () => {
    const firm_uuid = await service.newFirm();
    const { uuid: admin, actor } = await newUser(firm_uuid);
    const { uuid: other } = await newUser(firm_uuid);
    for (const role of ['SUPERUSER', 'WORKFLOW_ENGINEER']) {
      const { uuid: user_uuid } = await newUser(firm_uuid, role);
      await allRefused(FORBIDDEN, [
        service.client.createUser({ actor, firm_uuid, name: 'Bakyt', role }),
        service.client.changeUser({ actor, user_uuid: other, role }),
        service.client.changeUser({ actor, user_uuid: admin, role }),
        service.client.changeUser({ actor, user_uuid, role: 'ADMIN' }),
        service.client.changeUser({ actor, user_uuid, name: 'Bakyt' }),
        service.client.removeUser({ actor, user_uuid }),
        service.client.createSignInCode({ actor, user_uuid }),
      ]);
    }
  });

  it.each(['REVIEWER', 'OPERATOR'])('grants the role %s, takes it back, and signs in who has it', async (role) => {
    const firm_uuid = await service.newFirm();
    const { actor } = await newUser(firm_uuid);
    const { uuid: user_uuid } = await service.client.createUser({ actor, firm_uuid, name: 'Bakyt', role });
    await service.client.createSignInCode({ actor, user_uuid });
    const promoted = await service.client.changeUser({ actor, user_uuid, role: 'ADMIN' });
    expect(promoted).toMatchObject({ role: 'ADMIN', tokens_revoked_before: expect.any(String) });
    expect(await service.client.changeUser({ actor, user_uuid, role })).toMatchObject({ role });
    await service.client.removeUser({ actor, user_uuid });
  });

  it('sets the operator ids of a user, whole and trimmed, without ending sessions', async () => {
    const firm_uuid = await service.newFirm();
    const { actor } = await newUser(firm_uuid);
    const operator_ids = [' 17', '17', 'a-2 '];
    const created = await service.client.createUser({
      actor,
      firm_uuid,
      name: 'Bakyt',
      role: 'OPERATOR',
      operator_ids,
    });
    expect(created.operator_ids).toEqual(['17', 'a-2']);
    const { uuid: user_uuid } = created;
    const { code } = await service.client.createSignInCode({ actor, user_uuid });
    const { secret } = await service.client.openSession({ code, address: '192.0.2.7' });
    const renamed = await service.client.changeUser({ actor, user_uuid, name: 'Bakyt A.' });
    expect(renamed.operator_ids).toEqual(['17', 'a-2']);
    const changed = await service.client.changeUser({ actor, user_uuid, operator_ids: { ids: ['18'] } });
    expect(changed.operator_ids).toEqual(['18']);
    expect(await newestEntry(firm_uuid)).toMatchObject({
      action: 'user.changed',
      subject: `${user_uuid}/operator_ids`,
    });
    expect((await service.client.findUser({ user_uuid })).user).toEqual(changed);
    await service.client.refreshSession({ secret });
    const none = await service.client.changeUser({ actor, user_uuid, operator_ids: { ids: [] } });
    expect(none.operator_ids).toEqual([]);
    const wrong = [[' '], ['a'.repeat(256)], Array.from({ length: 101 }, (_, at) => String(at))];
    for (const ids of wrong)
      await expect(service.client.changeUser({ actor, user_uuid, operator_ids: { ids } })).rejects.toMatchObject({
        code: 'VALIDATION_ERROR',
      });
  });

  it('finds no user of another firm', async () => {
    const [own, other] = [await service.newFirm('Own'), await service.newFirm('Other')];
    const { actor } = await newUser(own);
    const { uuid: user_uuid } = await newUser(other);
    expect((await service.client.findUser({ user_uuid, firm_uuid: own })).user ?? null).toBeNull();
    await allRefused(NOT_FOUND, [
      service.client.changeUser({ actor, user_uuid, name: 'Bakyt' }),
      service.client.removeUser({ actor, user_uuid }),
      service.client.createSignInCode({ actor, user_uuid }),
      service.client.updateFirm({ actor, firm_uuid: other, name: 'Mine' }),
      service.client.changeUser({ actor, user_uuid: UNKNOWN_UUID, name: 'Bakyt' }),
    ]);
    expect((await service.client.listUsers({ firm_uuid: other })).count).toBe(1);
  });

  it('removes neither themselves nor the last ADMIN, and gives neither another role', async () => {
    const firm_uuid = await service.newFirm();
    const { uuid: last, actor } = await newUser(firm_uuid);
    // The firm's API user is an ADMIN that nobody can sign in as.
    await service.newKey(firm_uuid);
    const own = { kind: 'conflict', code: 'OWN_ACCOUNT' };
    await expect(service.client.removeUser({ actor, user_uuid: last })).rejects.toMatchObject(own);
    const staff = { ...superuser, firm_uuid };
    const only = { kind: 'conflict', code: 'LAST_ADMIN' };
    const demoted = service.client.changeUser({ actor: staff, user_uuid: last, role: 'SUPERUSER' });
    await expect(demoted).rejects.toMatchObject(only);
    await expect(service.client.removeUser({ actor: staff, user_uuid: last })).rejects.toMatchObject(only);
    await newUser(firm_uuid);
    await service.client.removeUser({ actor: staff, user_uuid: last });
  });

  it('is left to a firm when two remove each other at the same moment', async () => {
    const firm_uuid = await service.newFirm();
    const [one, other] = [await newUser(firm_uuid), await newUser(firm_uuid)];
    const outcomes = await Promise.allSettled([
      service.client.removeUser({ actor: one.actor, user_uuid: other.uuid }),
      service.client.removeUser({ actor: other.actor, user_uuid: one.uuid }),
    ]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await service.client.listUsers({ firm_uuid })).count).toBe(1);
  });

  it('does not manage the API user', async () => {
    const firm_uuid = await service.newFirm();
    const { actor } = await newUser(firm_uuid);
    await service.newKey(firm_uuid);
    const { users } = await service.client.listUsers({ firm_uuid });
    const user_uuid = users.find(({ web_api_only }) => web_api_only)!.uuid;
    await allRefused({ kind: 'conflict', code: 'API_USER' }, [
      service.client.changeUser({ actor, user_uuid, name: 'Bakyt' }),
      service.client.removeUser({ actor, user_uuid }),
      service.client.createSignInCode({ actor, user_uuid }),
    ]);
  });
});

it('a SUPERUSER of the firm changes a role: earlier tokens are refused and sessions end', async () => {
  const firm_uuid = await service.newFirm();
  const staff = await newUser(firm_uuid, 'SUPERUSER');
  const { uuid: user_uuid, actor } = await newUser(firm_uuid);
  await newUser(firm_uuid);
  const { code } = await service.client.createSignInCode({ actor, user_uuid });
  const { secret } = await service.client.openSession({ code, address: '192.0.2.7' });
  const before = Date.now();
  const changed = await service.client.changeUser({ actor: staff.actor, user_uuid, role: 'WORKFLOW_ENGINEER' });
  expect(changed.role).toBe('WORKFLOW_ENGINEER');
  expect(Date.parse(changed.tokens_revoked_before!)).toBeGreaterThanOrEqual(before);
  expect((await service.client.findUser({ user_uuid })).user).toEqual(changed);
  await expect(service.client.refreshSession({ secret })).rejects.toMatchObject({ kind: 'unauthenticated' });
  expect(await newestEntry(firm_uuid)).toMatchObject({ action: 'user.changed', subject: `${user_uuid}/role` });
});

it('a WORKFLOW_ENGINEER manages no users and no settings', async () => {
  const firm_uuid = await service.newFirm();
  const { uuid: user_uuid } = await newUser(firm_uuid);
  const { actor } = await newUser(firm_uuid, 'WORKFLOW_ENGINEER');
  await allRefused(FORBIDDEN, [
    service.client.createUser({ actor, firm_uuid, name: 'Bakyt', role: 'ADMIN' }),
    service.client.removeUser({ actor, user_uuid }),
    service.client.updateFirm({ actor, firm_uuid, language: 'ru' }),
  ]);
});

it('users are listed by page, oldest first, each once', async () => {
  const firm_uuid = await service.newFirm();
  const names = ['A', 'B', 'C', 'D', 'E'];
  for (const name of names) await newUser(firm_uuid, 'ADMIN', name);
  const pages = await Promise.all([1, 2, 3, 4].map((page) => service.client.listUsers({ firm_uuid, page, size: 2 })));
  expect(pages.map(({ count, users }) => [count, users.map(({ name }) => name).join('')])).toEqual([
    [5, 'AB'],
    [5, 'CD'],
    [5, 'E'],
    [5, ''],
  ]);
});

describe('the settings of a firm', () => {
  it('are changed by an ADMIN, its name and segment types too; the audit log names what changed', async () => {
    const firm_uuid = await service.newFirm();
    const { actor, uuid: admin } = await newUser(firm_uuid);
    const changed = await service.client.updateFirm({
      actor,
      firm_uuid,
      name: ' Orient ',
      language: 'ru',
      segment_types: { names: ['Support', 'Колдоо'] },
    });
    expect(changed).toMatchObject({ name: 'Orient', language: 'ru', segment_types: ['Support', 'Колдоо'] });
    expect((await service.client.findFirm({ firm_uuid })).firm).toEqual(changed);
    const { entries } = await service.client.listAudit({ firm_uuid, actor: admin, limit: 10 });
    expect(entries.map(({ action, subject }) => `${action} ${subject.slice(firm_uuid.length)}`)).toEqual([
      'segment_type.removed /Sales',
      'segment_type.added /Колдоо',
      'firm.changed /language',
      'firm.changed /name',
    ]);
    await service.client.updateFirm({ actor, firm_uuid, segment_types: { names: ['Колдоо', 'Support'] } });
    expect(await newestEntry(firm_uuid)).toMatchObject({
      action: 'firm.changed',
      subject: `${firm_uuid}/segment_types`,
    });
  });

  it('lose nothing when segment types are added while all are set', async () => {
    const firm_uuid = await service.newFirm();
    const { actor } = await newUser(firm_uuid);
    const names = ['Sales', 'Support', 'New'];
    await Promise.all([
      ...['New', 'Newer', 'Newest'].map((name) => service.client.addSegmentType({ firm_uuid, name })),
      service.client.updateFirm({ actor, firm_uuid, segment_types: { names } }),
    ]);
    const { firm } = await service.client.findFirm({ firm_uuid });
    expect(firm?.segment_types.slice(0, 3)).toEqual(names);
  });
});

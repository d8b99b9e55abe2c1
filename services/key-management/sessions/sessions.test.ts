import { openDatabase } from '@call-analysis/postgres';
import { waitUntil } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import { schema } from '../start.ts';
import { superuser, TestService, UNKNOWN_UUID } from '../test/test-service.ts';

const service = new TestService();
const address = '192.0.2.7';
const UNAUTHENTICATED = { kind: 'unauthenticated', code: 'UNAUTHENTICATED' };

async function newUser(role = 'ADMIN'): Promise<{ uuid: string; firm_uuid: string }> {
  return service.client.createUser({ firm_uuid: await service.newFirm(), name: 'Ann', role });
}

async function signedIn(user_uuid: string) {
  const { code } = await service.client.createSignInCode({ user_uuid });
  return service.client.openSession({ code, address });
}

function sessionOf(token: string): string {
  return (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { sid: string }).sid;
}

describe('a sign-in code', () => {
  it('signs its user in once, even when it is used twice at the same time', async () => {
    const { code } = await service.client.createSignInCode({ user_uuid: (await newUser()).uuid });
    const uses = await Promise.allSettled([1, 2, 3].map(() => service.client.openSession({ code, address })));
    expect(uses.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
    await expect(service.client.openSession({ code, address })).rejects.toMatchObject(UNAUTHENTICATED);
  });

  it('is refused after 10 minutes, and stored only as a hash', async () => {
    const { uuid } = await newUser();
    const { code, expires_at } = await service.client.createSignInCode({ user_uuid: uuid });
    expect(Date.parse(expires_at) - Date.now()).toBeLessThanOrEqual(600_000);
    const rows = await service.database.query('SELECT * FROM sign_in_code');
    expect(JSON.stringify(rows)).not.toContain(code);
    await service.database.query("UPDATE sign_in_code SET expires_at = now() - interval '1 second'");
    await expect(service.client.openSession({ code, address })).rejects.toMatchObject(UNAUTHENTICATED);
  });

  it('is not made for an API user, and without a user for the first SUPERUSER', async () => {
    await expect(service.client.createSignInCode({})).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const firm_uuid = await service.newFirm();
    await service.newKey(firm_uuid);
    const { users } = await service.client.listUsers({ firm_uuid });
    await expect(service.client.createSignInCode({ user_uuid: users[0]?.uuid })).rejects.toMatchObject({
      code: 'API_USER',
    });
    await newUser('ADMIN');
    const first = await newUser('SUPERUSER');
    await newUser('SUPERUSER');
    expect(await service.client.createSignInCode({})).toMatchObject({ user_uuid: first.uuid });
  });
});

describe('a session', () => {
  it('is refreshed until it ends, with a token for itself', async () => {
    const user = await newUser();
    const { secret, token } = await signedIn(user.uuid);
    const refreshed = await service.client.refreshSession({ secret });
    const session_uuid = sessionOf(token);
    expect(sessionOf(refreshed.token)).toBe(session_uuid);
    expect(await service.client.findUser({ user_uuid: user.uuid, session_uuid })).toMatchObject({ user });
    await service.client.closeSession({ secret, address });
    await service.client.closeSession({ secret, address });
    await expect(service.client.refreshSession({ secret })).rejects.toMatchObject(UNAUTHENTICATED);
    expect(await service.client.findUser({ user_uuid: user.uuid, session_uuid })).not.toHaveProperty('user');
    expect(await service.auditedActions({ firm_uuid: user.firm_uuid })).toEqual([
      'session.closed',
      'session.opened',
      'sign_in_link.created',
      'user.created',
      'firm.created',
    ]);
  });

  it.each([
    ['its user is removed', (user_uuid: string) => service.client.removeUser({ user_uuid })],
    ["the user's tokens are revoked", (user_uuid: string) => service.client.revokeTokens({ user_uuid })],
    [
      'it is not used for 12 hours',
      () => service.database.query("UPDATE session SET idle_until = now() - interval '1 second'"),
    ],
    ['it is 7 days old', () => service.database.query("UPDATE session SET expires_at = now() - interval '1 second'")],
  ])('ends when %s', async (_, end) => {
    const { uuid } = await newUser();
    const { secret } = await signedIn(uuid);
    await end(uuid);
    await expect(service.client.refreshSession({ secret })).rejects.toMatchObject(UNAUTHENTICATED);
  });

  it('that is opened while the tokens of its user are revoked ends with them', async () => {
    const { uuid: user_uuid } = await newUser();
    const { code } = await service.client.createSignInCode({ user_uuid });
    const observer = openDatabase({ url: service.config.databaseUrl, schema, poolSize: 1 });
    const waiting = async () => {
      const [row] = await observer.query<{ count: number }>(
        "SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      return row!.count;
    };
    const [opened] = await service.database.transaction(async (tx) => {
      // Both transactions end with an entry in the audit log.
      await tx.query('LOCK TABLE audit_entry IN EXCLUSIVE MODE');
      const opening = service.client.openSession({ code, address });
      await waitUntil(async () => (await waiting()) === 1);
      const revoking = service.client.revokeTokens({ user_uuid });
      await waitUntil(async () => (await waiting()) === 2);
      return [Promise.all([opening, revoking])];
    });
    await observer.close();
    const [{ secret }] = await opened!;
    await expect(service.client.refreshSession({ secret })).rejects.toMatchObject(UNAUTHENTICATED);
  });

  it('is signed with a key that a change of the pepper leaves valid', async () => {
    const before = await service.client.listSessionKeys({});
    await service.restart({
      peppers: { pepper: 'another pepper of thirty-two bytes', previousPepper: service.config.peppers.pepper },
    });
    const { keys } = await service.client.listSessionKeys({});
    expect(keys).toEqual([expect.anything(), ...before.keys]);
    await service.restart();
  });
});

describe('an API key', () => {
  it('is accepted while the pepper is changed, and stored under the new one when it is used', async () => {
    const { apiKey } = await service.newKey(await service.newFirm());
    const pepper = 'another pepper of thirty-two bytes';
    await service.restart({ peppers: { pepper } });
    expect(await service.verdictFor(apiKey)).toBe('UNKNOWN');
    await service.restart({ peppers: { pepper, previousPepper: service.config.peppers.pepper } });
    expect(await service.verdictFor(apiKey)).toBe('VALID');
    await service.restart({ peppers: { pepper } });
    expect(await service.verdictFor(apiKey)).toBe('VALID');
    await service.restart();
  });

  it('works in processes of either step while they change the pepper one by one, and so does a session', async () => {
    const { pepper: old } = service.config.peppers;
    const pepper = 'another pepper of thirty-two bytes';
    const [before, changed] = [
      { peppers: { pepper: old, nextPepper: pepper } },
      { peppers: { pepper, previousPepper: old } },
    ];
    await service.restart(before);
    const first = await service.newKey(await service.newFirm());
    const user = await newUser();
    await service.restart(changed);
    expect(await service.verdictFor(first.apiKey)).toBe('VALID');
    const second = await service.newKey(await service.newFirm('Made under the new pepper'));
    const { token } = await signedIn(user.uuid);
    // A process that has not been restarted yet.
    await service.restart(before);
    expect(await service.verdictFor(first.apiKey)).toBe('VALID');
    expect(await service.verdictFor(second.apiKey)).toBe('VALID');
    const { keys } = await service.client.listSessionKeys({});
    const { kid } = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as { kid: string };
    expect(keys.map((each) => each.kid)).toContain(kid);
    // Nothing is stored under the old pepper again.
    await service.restart({ peppers: { pepper } });
    expect(await service.verdictFor(first.apiKey)).toBe('VALID');
    expect(await service.verdictFor(second.apiKey)).toBe('VALID');
    await service.restart();
  });

  it('works for the grace after it was replaced, is not listed, and ends with its successor', async () => {
    const firm_uuid = await service.newFirm();
    const old = await service.newKey(firm_uuid);
    const { api_key } = await service.client.rotateKey({ actor: superuser, key_uuid: old.uuid, grace_seconds: 60 });
    const successor = await service.verify(api_key);
    expect(successor).toMatchObject({ verdict: 'VALID', firm_uuid });
    const replaced = await service.verify(old.apiKey);
    expect(replaced).toMatchObject({ verdict: 'VALID', ends_in_ms: expect.any(Number) });
    expect(replaced.ends_in_ms).toBeLessThanOrEqual(60_000);
    expect(replaced.ends_in_ms).toBeGreaterThan(0);
    expect(successor).not.toHaveProperty('ends_in_ms');
    const { items } = await service.client.listKeys({ actor: superuser, page: 1, size: 10 });
    expect(items.map(({ uuid }) => uuid)).toEqual([successor.key_uuid]);
    const again = service.client.rotateKey({ actor: superuser, key_uuid: old.uuid, grace_seconds: 60 });
    await expect(again).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await service.client.deleteKey({ actor: superuser, key_uuid: successor.key_uuid });
    expect(await service.verdictFor(old.apiKey)).toBe('REVOKED');
  });

  it('that is replaced without a grace, or whose grace is over or was ended, is refused', async () => {
    const firm_uuid = await service.newFirm();
    const first = await service.newKey(firm_uuid);
    const replace = (key_uuid: string, grace_seconds: number) =>
      service.client.rotateKey({ actor: superuser, key_uuid, grace_seconds });
    const second = (await replace(first.uuid, 0)).api_key;
    expect(await service.verdictFor(first.apiKey)).toBe('REVOKED');
    const secondUuid = (await service.verify(second)).key_uuid;
    const third = (await replace(secondUuid, 60)).api_key;
    await service.client.deleteKey({ actor: superuser, key_uuid: secondUuid });
    expect(await service.verdictFor(second)).toBe('REVOKED');
    await replace((await service.verify(third)).key_uuid, 60);
    await service.database.query("UPDATE api_key SET grace_until = now() - interval '1 second'");
    expect(await service.verdictFor(third)).toBe('REVOKED');
    await expect(replace(UNKNOWN_UUID, 0)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('that has expired is refused and not listed, and the firm can have another', async () => {
    const firm_uuid = await service.newFirm();
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const { api_key } = await service.client.createKey({ actor: superuser, firm_uuid, expires_at });
    expect(await service.verify(api_key)).toMatchObject({ verdict: 'VALID', ends_in_ms: 600_000 });
    await service.database.query("UPDATE api_key SET expires_at = now() - interval '1 second'");
    expect(await service.verdictFor(api_key)).toBe('REVOKED');
    expect(await service.client.listKeys({ actor: superuser, page: 1, size: 10 })).toMatchObject({ count: 0 });
    await service.newKey(firm_uuid);
  });
});

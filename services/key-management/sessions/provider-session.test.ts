import { describe, expect, it } from '@jest/globals';
import { TestService, UNKNOWN_UUID } from '../test/test-service.ts';

const service = new TestService();
const address = '192.0.2.7';
const FORBIDDEN = { kind: 'forbidden', code: 'FORBIDDEN' };
const issuer = 'https://login.example.com';

let people = 0;
const newSubject = () => `person-${++people}`;

function claimsOf(token: string): { sub: string; sid: string; role: string; firm: string } {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as ReturnType<typeof claimsOf>;
}

interface Person {
  subject: string;
  firm_uuid: string;
  name?: string;
  role?: string;
  issuer?: string;
  operator_ids?: { ids: string[] };
}

async function signIn(person: Person) {
  return service.client.openProviderSession({ issuer, name: 'Ann', role: 'ADMIN', address, ...person });
}

describe('a person whom an identity provider has identified', () => {
  it('becomes a user of the firm once, also when several browsers sign in at the same time', async () => {
    const person = { subject: newSubject(), firm_uuid: await service.newFirm() };
    const sessions = await Promise.all([signIn(person), signIn(person), signIn(person)]);
    expect(new Set(sessions.map(({ token }) => claimsOf(token).sub)).size).toBe(1);
    const { users } = await service.client.listUsers({ firm_uuid: person.firm_uuid });
    expect(users).toMatchObject([{ name: 'Ann', role: 'ADMIN' }]);
    const actions = await service.auditedActions({ firm_uuid: person.firm_uuid });
    expect(actions.filter((each) => each === 'user.created')).toHaveLength(1);
  });

  it('is another user than the same subject of another provider', async () => {
    const person = { subject: newSubject(), firm_uuid: await service.newFirm() };
    const [first, second] = [await signIn(person), await signIn({ ...person, issuer: 'https://other.example.com' })];
    expect(claimsOf(first.token).sub).not.toBe(claimsOf(second.token).sub);
  });

  it("gets the provider's current name and role; another role ends earlier sessions", async () => {
    const person = { subject: newSubject(), firm_uuid: await service.newFirm() };
    const first = await signIn(person);
    const renamed = await signIn({ ...person, name: 'Ann Lee' });
    await expect(service.client.refreshSession({ secret: first.secret })).resolves.toBeDefined();
    const promoted = await signIn({ ...person, name: 'Ann Lee', role: 'SUPERUSER' });
    expect(claimsOf(promoted.token)).toMatchObject({ sub: claimsOf(renamed.token).sub, role: 'SUPERUSER' });
    for (const { secret } of [first, renamed]) {
      await expect(service.client.refreshSession({ secret })).rejects.toMatchObject({ kind: 'unauthenticated' });
    }
    await expect(service.client.refreshSession({ secret: promoted.secret })).resolves.toBeDefined();
  });

  it("gets the provider's operator ids, and keeps those of an ADMIN where the provider does not say", async () => {
    const person = { subject: newSubject(), firm_uuid: await service.newFirm(), role: 'OPERATOR' };
    const { token, secret } = await signIn(person);
    const idsOf = async () => (await service.client.findUser({ user_uuid: claimsOf(token).sub })).user?.operator_ids;
    expect(await idsOf()).toEqual([]);
    await signIn({ ...person, operator_ids: { ids: ['17', '17', '18'] } });
    expect(await idsOf()).toEqual(['17', '18']);
    await signIn(person);
    expect(await idsOf()).toEqual(['17', '18']);
    await expect(service.client.refreshSession({ secret })).resolves.toBeDefined();
  });

  it('stays removed after a removal', async () => {
    const person = { subject: newSubject(), firm_uuid: await service.newFirm() };
    const { token, secret } = await signIn(person);
    await service.client.removeUser({ user_uuid: claimsOf(token).sub });
    await expect(service.client.refreshSession({ secret })).rejects.toMatchObject({ kind: 'unauthenticated' });
    await expect(signIn(person)).rejects.toMatchObject(FORBIDDEN);
    expect((await service.client.listUsers({ firm_uuid: person.firm_uuid })).users).toEqual([]);
  });

  it('is refused in a firm that does not exist, and in another firm than before', async () => {
    const person = { subject: newSubject(), firm_uuid: await service.newFirm() };
    await signIn(person);
    await expect(signIn({ ...person, firm_uuid: await service.newFirm() })).rejects.toMatchObject(FORBIDDEN);
    await expect(signIn({ subject: newSubject(), firm_uuid: UNKNOWN_UUID })).rejects.toMatchObject(FORBIDDEN);
  });
});

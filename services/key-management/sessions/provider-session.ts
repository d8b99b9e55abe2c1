import { randomUUID } from 'node:crypto';
import { Fault } from '@call-analysis/fault';
import type { User } from '../domain.ts';
import type { ProviderIdentity } from '../store/sessions.ts';
import type { Transaction } from '../store/store.ts';
import { type NewSession, type Parts, signIn } from './sessions.ts';

/** A person according to the identity provider. */
type Properties = Pick<User, 'firmUuid' | 'name' | 'role'>;

/**
 * Signs a person in whom an identity provider has identified. The first time the person becomes a user of the firm;
 * later name and role become what the provider says. A changed role ends the user's other sessions and tokens. Fault:
 * FORBIDDEN when there is no such firm, or the user was removed or is of another firm.
 */
export function openProviderSession(
  parts: Parts,
  identity: ProviderIdentity,
  properties: Properties,
  address: string,
): Promise<NewSession> {
  return signIn(parts, address, async (tx, now) => {
    // Two first sign-ins of a person at the same time make one user.
    await tx.lockFirm(properties.firmUuid);
    if ((await tx.findFirm(properties.firmUuid)) === null) throw refused('Your firm is not known here');
    const known = await tx.findProviderIdentity(identity);
    if (known === null) return addUser(tx, identity, properties, address, now);
    await tx.lockUser(known.userUuid);
    const user = await tx.findUser(known.userUuid);
    if (user === null) throw refused('Your user was removed');
    if (user.firmUuid !== properties.firmUuid) throw refused('You are a user of another firm');
    return updated(tx, user, properties, address, now);
  });
}

async function addUser(
  tx: Transaction,
  identity: ProviderIdentity,
  properties: Properties,
  address: string,
  createdAt: Date,
): Promise<User> {
  const user = { ...properties, uuid: randomUUID(), webApiOnly: false, tokensRevokedBefore: null, createdAt };
  await tx.addUser(user);
  await tx.addProviderIdentity(identity, user.uuid);
  await tx.addAuditEntry({ name: user.uuid, address }, 'user.created', user.uuid, user.firmUuid);
  return user;
}

async function updated(
  tx: Transaction,
  user: User,
  { name, role }: Properties,
  address: string,
  now: Date,
): Promise<User> {
  const actor = { name: user.uuid, address };
  if (name !== user.name || role !== user.role) await tx.changeUser(user.uuid, { name, role });
  if (name !== user.name) await tx.addAuditEntry(actor, 'user.changed', user.uuid, user.firmUuid, 'name');
  if (role === user.role) return { ...user, name };
  // Tokens carry the role.
  await tx.revokeTokens(user.uuid, now);
  await tx.endSessionsOf(user.uuid);
  await tx.addAuditEntry(actor, 'user.changed', user.uuid, user.firmUuid, 'role');
  return { ...user, name, role, tokensRevokedBefore: now };
}

function refused(reason: string): Fault {
  return new Fault('forbidden', 'FORBIDDEN', `${reason}. Ask your system administrator.`);
}

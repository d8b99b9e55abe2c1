import { Fault } from '@call-analysis/fault';
import { newUser, type User } from '../domain.ts';
import { applyChange } from '../firms-and-users/users.ts';
import type { ProviderIdentity } from '../store/sessions.ts';
import type { Transaction } from '../store/store.ts';
import { type NewSession, type Deps, signIn } from './sessions.ts';

/** A person according to the identity provider. */
interface Properties extends Pick<User, 'firmUuid' | 'name' | 'role'> {
  /** Undefined: the provider does not say, and an ADMIN sets them. */
  readonly operatorIds: User['operatorIds'] | undefined;
}

/**
 * Signs a person in whom an identity provider has identified. The first time the person becomes a user of the firm;
 * later name, role and operator ids become what the provider says. A changed role ends the user's other sessions and tokens. Fault:
 * FORBIDDEN when there is no such firm, or the user was removed or is of another firm.
 */
export function openProviderSession(
  deps: Deps,
  identity: ProviderIdentity,
  properties: Properties,
  address: string,
): Promise<NewSession> {
  return signIn(deps, address, async (tx, now) => {
    // Two first sign-ins of a person at the same time make one user.
    await tx.lockFirm(properties.firmUuid);
    if ((await tx.findFirm(properties.firmUuid)) === null) throw refused('Your firm is not known here');
    const known = await tx.findProviderIdentity(identity);
    if (known === null) return addUser(tx, identity, properties, address);
    await tx.lockUser(known.userUuid);
    const user = await tx.findUser(known.userUuid);
    if (user === null) throw refused('Your user was removed');
    if (user.firmUuid !== properties.firmUuid) throw refused('You are a user of another firm');
    const { name, role, operatorIds = user.operatorIds } = properties;
    return applyChange(tx, { name: user.uuid, address }, user, { name, role, operatorIds }, now);
  });
}

async function addUser(
  tx: Transaction,
  identity: ProviderIdentity,
  { operatorIds = [], ...properties }: Properties,
  address: string,
): Promise<User> {
  const user = newUser({ ...properties, operatorIds });
  await tx.addUser(user);
  await tx.addProviderIdentity(identity, user.uuid);
  await tx.addAuditEntry({ name: user.uuid, address }, 'user.created', user.uuid, user.firmUuid);
  return user;
}

function refused(reason: string): Fault {
  return new Fault('forbidden', 'FORBIDDEN', `${reason}. Ask your system administrator.`);
}

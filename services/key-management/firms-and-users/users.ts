import { Fault } from '@call-analysis/fault';
import type { Page } from '@call-analysis/postgres';
import {
  type Actor,
  ADMINISTRATOR,
  type FirmCaller,
  newUser,
  noSuch,
  requireManagerOf,
  requireOther,
  requireOtherAdmin,
  requirePerson,
  type User,
} from '../domain.ts';
import type { Store, Transaction } from '../store/store.ts';

/** Creates a user of a firm. Without a caller, for the admin command. Faults: NOT_FOUND, FORBIDDEN. */
export async function createUser(
  { store }: { store: Store },
  caller: FirmCaller | null,
  properties: Pick<User, 'firmUuid' | 'name' | 'role' | 'operatorIds'>,
): Promise<User> {
  const user = newUser(properties);
  if (caller !== null) requireManagerOf(caller, user.role);
  await store.transaction(async (tx) => {
    if ((await tx.findFirm(user.firmUuid)) === null) throw noSuch('firm');
    await tx.addUser(user);
    await tx.addAuditEntry(caller ?? ADMINISTRATOR, 'user.created', user.uuid, user.firmUuid);
  });
  return user;
}

/** A firm's users, including its API user and without removed users, oldest first. Fault: NOT_FOUND. */
export async function listUsers(
  { store }: { store: Store },
  firmUuid: string,
  page?: Page,
): Promise<{ count: number; users: readonly User[] }> {
  const found = await store.listUsers(firmUuid, page);
  if (found.count === 0 && (await store.findFirm(firmUuid)) === null) throw noSuch('firm');
  return found;
}

/**
 * Removes a user permanently and ends the user's sessions. The gateway refuses the user's tokens once its cache entry
 * expires, within seconds. Without a caller, for the admin command.
 * Faults: NOT_FOUND, also when the user was removed before or is of another firm than the caller; API_USER; for a caller:
 * FORBIDDEN, OWN_ACCOUNT, LAST_ADMIN.
 */
export async function removeUser(
  { store }: { store: Store },
  caller: FirmCaller | null,
  userUuid: string,
): Promise<User & { removedAt: Date }> {
  const removedAt = new Date();
  return store.transaction(async (tx) => {
    if (caller !== null) await tx.lockFirm(caller.firmUuid);
    const user = await tx.findUser(userUuid);
    if (user === null || (caller !== null && user.firmUuid !== caller.firmUuid)) throw noSuch('user');
    if (user.webApiOnly) {
      // The key would continue to work.
      throw new Fault(
        'conflict',
        'API_USER',
        "The firm's API key acts on behalf of this user. Delete that key instead.",
      );
    }
    if (caller !== null) {
      requireManagerOf(caller, user.role);
      requireOther(caller, user);
      await requireOtherAdmin(tx, user);
    }
    if ((await tx.removeUser(userUuid, removedAt)) === null) throw noSuch('user');
    await tx.endSessionsOf(user.uuid);
    await tx.addAuditEntry(caller ?? ADMINISTRATOR, 'user.removed', user.uuid, user.firmUuid);
    return { ...user, removedAt };
  });
}

/**
 * Changes the name, the role or the operator ids of a user of the caller's firm. Tokens carry the role, so those that were
 * issued before a change of the role are refused and the user's sessions end: the user signs in anew. They do not carry
 * the operator ids: gateways read these with the user, within seconds.
 * Faults: NOT_FOUND, FORBIDDEN, API_USER; when the role would change: OWN_ACCOUNT, LAST_ADMIN.
 */
export async function changeUser(
  { store }: { store: Store },
  caller: FirmCaller,
  userUuid: string,
  change: { readonly [Field in 'name' | 'role' | 'operatorIds']?: User[Field] | undefined },
): Promise<User> {
  const now = new Date();
  return store.transaction(async (tx) => {
    await tx.lockFirm(caller.firmUuid);
    const user = await tx.findUser(userUuid);
    if (user === null || user.firmUuid !== caller.firmUuid) throw noSuch('user');
    const { name = user.name, role = user.role, operatorIds = user.operatorIds } = change;
    requirePerson(user, 'A changed name or role');
    requireManagerOf(caller, user.role);
    requireManagerOf(caller, role);
    if (role !== user.role) {
      requireOther(caller, user);
      await requireOtherAdmin(tx, user);
    }
    return applyChange(tx, caller, user, { name, role, operatorIds }, now);
  });
}

/** Stores what differs, with an audit entry for each field. Another role ends the user's sessions and tokens. */
export async function applyChange(
  tx: Transaction,
  actor: Actor,
  user: User,
  change: Pick<User, 'name' | 'role' | 'operatorIds'>,
  now: Date,
): Promise<User> {
  const { name, role, operatorIds } = change;
  const changed = [
    ...(name === user.name ? [] : ['name']),
    ...(sameIds(operatorIds, user.operatorIds) ? [] : ['operator_ids']),
    ...(role === user.role ? [] : ['role']),
  ];
  if (changed.length > 0) await tx.changeUser(user.uuid, change);
  for (const field of changed) await tx.addAuditEntry(actor, 'user.changed', user.uuid, user.firmUuid, field);
  if (role === user.role) return { ...user, ...change };
  // Tokens carry the role.
  await tx.revokeTokens(user.uuid, now);
  await tx.endSessionsOf(user.uuid);
  return { ...user, ...change, tokensRevokedBefore: now };
}

function sameIds(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((id, at) => id === other[at]);
}

/**
 * Revokes every bearer token that was issued to a user before now, and ends the user's sessions. The gateway refuses them
 * once its cache entry expires, within 5 s. Fault: NOT_FOUND.
 */
export async function revokeTokens(
  { store }: { store: Store },
  userUuid: string,
): Promise<{ user: User; revokedBefore: Date }> {
  const revokedBefore = new Date();
  return store.transaction(async (tx) => {
    const user = await tx.findUser(userUuid);
    if (user === null) throw noSuch('user');
    await tx.revokeTokens(userUuid, revokedBefore);
    await tx.endSessionsOf(userUuid);
    await tx.addAuditEntry(ADMINISTRATOR, 'token.revoked', userUuid, user.firmUuid);
    return { user: { ...user, tokensRevokedBefore: revokedBefore }, revokedBefore };
  });
}

/** Records that a bearer token is issued to a user, before it is shown. Faults: NOT_FOUND, API_USER. */
export async function recordToken({ store }: { store: Store }, userUuid: string, tokenUuid: string): Promise<User> {
  return store.transaction(async (tx) => {
    const user = await tx.findUser(userUuid);
    if (user === null) throw noSuch('user');
    requirePerson(user, 'A bearer token');
    await tx.addAuditEntry(ADMINISTRATOR, 'token.issued', userUuid, user.firmUuid, tokenUuid);
    return user;
  });
}

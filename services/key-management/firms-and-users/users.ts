import { randomUUID } from 'node:crypto';
import { Fault } from '@call-analysis/fault';
import {
  ADMINISTRATOR,
  type FirmCaller,
  noSuch,
  requireManagerOf,
  type User,
  type Page,
  requireOther,
  requireOtherAdmin,
} from '../domain.ts';
import type { Store } from '../store/store.ts';

/** Creates a user of a firm. Without a caller, for the admin command. Faults: NOT_FOUND, FORBIDDEN. */
export async function createUser(
  { store }: { store: Store },
  caller: FirmCaller | null,
  properties: Pick<User, 'firmUuid' | 'name' | 'role' | 'operatorIds'>,
): Promise<User> {
  const user: User = {
    ...properties,
    uuid: randomUUID(),
    webApiOnly: false,
    tokensRevokedBefore: null,
    createdAt: new Date(),
  };
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

interface RemovedUser extends User {
  readonly removedAt: Date;
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
): Promise<RemovedUser> {
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

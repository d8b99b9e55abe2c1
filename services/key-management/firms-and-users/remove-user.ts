import { Fault } from '@call-analysis/fault';
import {
  ADMINISTRATOR,
  type FirmCaller,
  noSuch,
  requireManagerOf,
  requireOther,
  requireOtherAdmin,
  type User,
} from '../domain.ts';
import type { Store } from '../store/store.ts';

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

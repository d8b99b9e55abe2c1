import { Fault } from '@call-analysis/fault';
import { ADMINISTRATOR, noSuch, type User } from '../domain.ts';
import type { Store } from '../store.ts';

export interface RemovedUser extends User {
  readonly removedAt: Date;
}

/**
 * Removes a user permanently and ends the user's sessions. The gateway refuses the user's tokens once its cache entry expires, within seconds.
 * Faults: NOT_FOUND, also when the user was removed before; API_USER.
 */
export async function removeUser({ store }: { store: Store }, userUuid: string): Promise<RemovedUser> {
  const removedAt = new Date();
  return store.transaction(async (tx) => {
    const user = await tx.removeUser(userUuid, removedAt);
    if (user === null) throw noSuch('user');
    if (user.webApiOnly) {
      // The key would continue to work.
      throw new Fault(
        'conflict',
        'API_USER',
        "The firm's API key acts on behalf of this user. Delete that key instead.",
      );
    }
    await tx.endSessionsOf(user.uuid);
    await tx.addAuditEntry(ADMINISTRATOR, 'user.removed', user.uuid, user.firmUuid);
    return { ...user, removedAt };
  });
}

import { Fault } from '@call-analysis/fault';
import { ADMINISTRATOR, noSuch, type User } from '../domain.ts';
import type { Store } from '../store.ts';

export interface RemovedUser extends User {
  readonly removedAt: Date;
}

/**
 * Ends a person's access for good; the gateway refuses their tokens as soon as its memory of them lapses, which takes seconds.
 * Faults: NOT_FOUND, also when they were removed before; API_USER.
 */
export async function removeUser({ store }: { store: Store }, userUuid: string): Promise<RemovedUser> {
  const removedAt = new Date();
  return store.transaction(async (tx) => {
    const user = await tx.endUser(userUuid, removedAt);
    if (user === null) throw noSuch('user');
    if (user.webApiOnly) {
      // Its key would go on working.
      throw new Fault(
        'conflict',
        'API_USER',
        "This is the user in whose name the firm's API key acts. Delete that key instead.",
      );
    }
    await tx.audit(ADMINISTRATOR, 'user.removed', user.uuid, user.firmUuid);
    return { ...user, removedAt };
  });
}

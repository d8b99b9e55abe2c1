import { randomUUID } from 'node:crypto';
import { ADMINISTRATOR, type FirmCaller, noSuch, requireManagerOf, type User } from '../domain.ts';
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

import { randomUUID } from 'node:crypto';
import { ADMINISTRATOR, noSuch, type User } from '../domain.ts';
import type { Store } from '../store.ts';

/** Creates a user of a firm. Fault: NOT_FOUND. */
export async function createUser(
  { store }: { store: Store },
  properties: Pick<User, 'firmUuid' | 'name' | 'role'>,
): Promise<User> {
  const user: User = { ...properties, uuid: randomUUID(), webApiOnly: false, tokensRevokedBefore: null };
  await store.transaction(async (tx) => {
    if ((await tx.findFirm(user.firmUuid)) === null) throw noSuch('firm');
    await tx.addUser(user);
    await tx.addAuditEntry(ADMINISTRATOR, 'user.created', user.uuid, user.firmUuid);
  });
  return user;
}

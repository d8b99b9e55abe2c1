import { ADMINISTRATOR, noSuch, requirePerson, type User } from '../domain.ts';
import type { Store } from '../store/store.ts';

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

import { ADMINISTRATOR, noSuch, type User, requirePerson } from '../domain.ts';
import type { Store } from '../store/store.ts';

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

import {
  type FirmCaller,
  noSuch,
  requireManagerOf,
  requireOther,
  requireOtherAdmin,
  requirePerson,
  type User,
} from '../domain.ts';
import type { Store } from '../store/store.ts';

/**
 * Changes the name or the role of a user of the caller's firm. Tokens carry the role, so those that were issued before a
 * change of the role are refused and the user's sessions end: the user signs in anew.
 * Faults: NOT_FOUND, FORBIDDEN, API_USER; when the role would change: OWN_ACCOUNT, LAST_ADMIN.
 */
export async function changeUser(
  { store }: { store: Store },
  caller: FirmCaller,
  userUuid: string,
  change: { readonly name?: string | undefined; readonly role?: User['role'] | undefined },
): Promise<User> {
  const now = new Date();
  return store.transaction(async (tx) => {
    await tx.lockFirm(caller.firmUuid);
    const user = await tx.findUser(userUuid);
    if (user === null || user.firmUuid !== caller.firmUuid) throw noSuch('user');
    const { name = user.name, role = user.role } = change;
    requirePerson(user, 'A changed name or role');
    requireManagerOf(caller, user.role);
    requireManagerOf(caller, role);
    if (role !== user.role) {
      requireOther(caller, user);
      await requireOtherAdmin(tx, user);
    }
    await tx.changeUser(user.uuid, { name, role });
    if (name !== user.name) await tx.addAuditEntry(caller, 'user.changed', user.uuid, user.firmUuid, 'name');
    if (role === user.role) return { ...user, name };
    await tx.revokeTokens(user.uuid, now);
    await tx.endSessionsOf(user.uuid);
    await tx.addAuditEntry(caller, 'user.changed', user.uuid, user.firmUuid, 'role');
    return { ...user, name, role, tokensRevokedBefore: now };
  });
}

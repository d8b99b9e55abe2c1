import {
  type Actor,
  type FirmCaller,
  noSuch,
  requireManagerOf,
  requireOther,
  requireOtherAdmin,
  requirePerson,
  type User,
} from '../domain.ts';
import type { Store, Transaction } from '../store/store.ts';

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

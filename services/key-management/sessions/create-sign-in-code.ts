import { ADMINISTRATOR, type FirmCaller, noSuch, requireManagerOf, requirePerson } from '../domain.ts';
import type { Store } from '../store/store.ts';
import { hashSecret, newSecret } from './secret.ts';

const CODE_TTL_MS = 10 * 60 * 1000;

/**
 * A code that signs a user, or the first SUPERUSER, in once, within 10 minutes. A caller makes codes for users of the same
 * firm; without a caller, it is for the admin command. Faults: NOT_FOUND, API_USER, FORBIDDEN.
 */
export async function createSignInCode(
  { store }: { store: Store },
  caller: FirmCaller | null,
  wanted: string | null,
): Promise<{ code: string; expiresAt: Date; userUuid: string }> {
  const code = newSecret();
  const expiresAt = new Date(Date.now() + CODE_TTL_MS);
  const userUuid = await store.transaction(async (tx) => {
    const user = wanted === null ? await tx.findFirstSuperuser() : await tx.findUser(wanted);
    if (user === null || (caller !== null && user.firmUuid !== caller.firmUuid)) throw noSuch('user');
    requirePerson(user, 'Signing in');
    if (caller !== null) requireManagerOf(caller, user.role);
    await tx.addSignInCode({ hash: hashSecret(code), userUuid: user.uuid, expiresAt });
    await tx.addAuditEntry(caller ?? ADMINISTRATOR, 'sign_in_link.created', user.uuid, user.firmUuid);
    return user.uuid;
  });
  return { code, expiresAt, userUuid };
}

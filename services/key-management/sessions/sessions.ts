import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Fault } from '@call-analysis/fault';
import type { CreateSignInCodeReply } from '@call-analysis/proto/key_management/v1/CreateSignInCodeReply';
import type { SessionReply } from '@call-analysis/proto/key_management/v1/SessionReply';
import {
  ADMINISTRATOR,
  type FirmCaller,
  newUser,
  noSuch,
  requireManagerOf,
  requirePerson,
  type User,
} from '../domain.ts';
import { applyChange } from '../firms-and-users/users.ts';
import type { ProviderIdentity } from '../store/sessions.ts';
import type { Store, Transaction } from '../store/store.ts';
import { type SessionKey, sessionToken } from './session-keys.ts';

/** 256 random bits, in characters that URLs and cookies carry unchanged. */
function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** The stored form of a secret. It has 256 random bits, so a slow or keyed hash would add nothing. */
function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret, 'utf8').digest();
}

/** A session that is not refreshed for this long ends. */
const IDLE_MS = 12 * 3600 * 1000;
const LONGEST_MS = 7 * 24 * 3600 * 1000;

export interface Deps {
  readonly store: Store;
  /** The first one signs. */
  readonly sessionKeys: readonly [SessionKey, ...SessionKey[]];
}

/** Signs the user of a one-time code in. The code cannot be used again. Fault: UNAUTHENTICATED. */
export function openSession(deps: Deps, code: string, address: string): Promise<SessionReply> {
  return signIn(deps, address, async (tx, now) => {
    const userUuid = await tx.takeSignInCode(hashSecret(code), now);
    const user = userUuid === null ? null : await tx.findUser(userUuid);
    if (user !== null) return user;
    throw new Fault(
      'unauthenticated',
      'UNAUTHENTICATED',
      'The sign-in link was used before, has expired or is incomplete. Ask your system administrator for a new one.',
    );
  });
}

/** Opens a session for the user whom `identify` finds and locks. When that throws, nothing is stored. */
async function signIn(
  { store, sessionKeys }: Deps,
  address: string,
  identify: (tx: Transaction, now: Date) => Promise<User>,
): Promise<SessionReply> {
  const now = Date.now();
  const secret = newSecret();
  const session = {
    uuid: randomUUID(),
    hash: hashSecret(secret),
    idleUntil: new Date(now + IDLE_MS),
    expiresAt: new Date(now + LONGEST_MS),
  };
  const user = await store.transaction(async (tx) => {
    const found = await identify(tx, new Date(now));
    await tx.addSession({ ...session, userUuid: found.uuid });
    await tx.addAuditEntry({ name: found.uuid, address }, 'session.opened', found.uuid, found.firmUuid);
    return found;
  });
  return { ...withToken(sessionKeys[0], user, session, now), secret };
}

/** A new token for a session that has not ended. Fault: UNAUTHENTICATED. */
export async function refreshSession({ store, sessionKeys }: Deps, secret: string): Promise<SessionReply> {
  const now = Date.now();
  const refreshed = await store.transaction(async (tx) => {
    const session = await tx.extendSession(hashSecret(secret), new Date(now), new Date(now + IDLE_MS));
    const user = session === null ? null : await tx.findUser(session.userUuid);
    return session === null || user === null ? null : { session, user };
  });
  if (refreshed === null) {
    throw new Fault('unauthenticated', 'UNAUTHENTICATED', 'The session has ended. Sign in again.');
  }
  return withToken(sessionKeys[0], refreshed.user, refreshed.session, now);
}

/** Ends a session. Gateways refuse its tokens within 5 s. */
export async function closeSession({ store }: Pick<Deps, 'store'>, secret: string, address: string): Promise<void> {
  await store.transaction(async (tx) => {
    const session = await tx.endSession(hashSecret(secret));
    const user = session === null ? null : await tx.findUser(session.userUuid);
    if (user === null) return;
    await tx.addAuditEntry({ name: user.uuid, address }, 'session.closed', user.uuid, user.firmUuid);
  });
}

function withToken(
  key: SessionKey,
  user: User,
  session: { readonly uuid: string; readonly expiresAt: Date },
  nowMs: number,
): SessionReply {
  const { token, expiresAt } = sessionToken(key, user, session.uuid, nowMs);
  const times = { token_expires_at: expiresAt.toISOString(), session_expires_at: session.expiresAt.toISOString() };
  return { secret: '', token, ...times };
}

const CODE_TTL_MS = 10 * 60 * 1000;

/**
 * A code that signs a user, or the first SUPERUSER, in once, within 10 minutes. A caller makes codes for users of the same
 * firm; without a caller, it is for the admin command. Faults: NOT_FOUND, API_USER, FORBIDDEN.
 */
export async function createSignInCode(
  { store }: { store: Store },
  caller: FirmCaller | null,
  wanted: string | null,
): Promise<CreateSignInCodeReply> {
  const code = newSecret();
  const expiresAt = new Date(Date.now() + CODE_TTL_MS);
  return store.transaction(async (tx) => {
    const user = wanted === null ? await tx.findFirstSuperuser() : await tx.findUser(wanted);
    if (user === null || (caller !== null && user.firmUuid !== caller.firmUuid)) throw noSuch('user');
    requirePerson(user, 'Signing in');
    if (caller !== null) requireManagerOf(caller, user.role);
    await tx.addSignInCode({ hash: hashSecret(code), userUuid: user.uuid, expiresAt });
    await tx.addAuditEntry(caller ?? ADMINISTRATOR, 'sign_in_link.created', user.uuid, user.firmUuid);
    return { code, expires_at: expiresAt.toISOString(), user_uuid: user.uuid };
  });
}

/** A person according to the identity provider. */
interface Properties extends Pick<User, 'firmUuid' | 'name' | 'role'> {
  /** Undefined: the provider does not say, and an ADMIN sets them. */
  readonly operatorIds: User['operatorIds'] | undefined;
}

/**
 * Signs a person in whom an identity provider has identified. The first time the person becomes a user of the firm;
 * later name, role and operator ids become what the provider says. A changed role ends the user's other sessions and tokens. Fault:
 * FORBIDDEN when there is no such firm, or the user was removed or is of another firm.
 */
export function openProviderSession(
  deps: Deps,
  identity: ProviderIdentity,
  properties: Properties,
  address: string,
): Promise<SessionReply> {
  return signIn(deps, address, async (tx, now) => {
    // Two first sign-ins of a person at the same time make one user.
    await tx.lockFirm(properties.firmUuid);
    if ((await tx.findFirm(properties.firmUuid)) === null) throw refused('Your firm is not known here');
    const known = await tx.findProviderIdentity(identity);
    if (known === null) return addUser(tx, identity, properties, address);
    await tx.lockUser(known.userUuid);
    const user = await tx.findUser(known.userUuid);
    if (user === null) throw refused('Your user was removed');
    if (user.firmUuid !== properties.firmUuid) throw refused('You are a user of another firm');
    const { name, role, operatorIds = user.operatorIds } = properties;
    return applyChange(tx, { name: user.uuid, address }, user, { name, role, operatorIds }, now);
  });
}

async function addUser(
  tx: Transaction,
  identity: ProviderIdentity,
  { operatorIds = [], ...properties }: Properties,
  address: string,
): Promise<User> {
  const user = newUser({ ...properties, operatorIds });
  await tx.addUser(user);
  await tx.addProviderIdentity(identity, user.uuid);
  await tx.addAuditEntry({ name: user.uuid, address }, 'user.created', user.uuid, user.firmUuid);
  return user;
}

function refused(reason: string): Fault {
  return new Fault('forbidden', 'FORBIDDEN', `${reason}. Ask your system administrator.`);
}

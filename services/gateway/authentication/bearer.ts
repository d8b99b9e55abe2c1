import type { IncomingMessage } from 'node:http';
import type { keyManagement } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import type { Caller } from './caller.ts';
import { ShortLivedCache } from './short-lived-cache.ts';
import { type RemoteKeys, type TokenRules, tokenVerifier, unauthenticated, type VerifiedToken } from './token.ts';

/** Of a user's status. */
const TTL_MS = 5000;
/** Shorter than that, so that no result is older. */
const DEADLINE_MS = 3000;
const SCHEME = 'bearer ';

type Users = Pick<Client<typeof keyManagement>, 'findUser'>;

/** A user as key-management returns it. */
interface UserStatus {
  readonly firmUuid: string;
  readonly isApiUser: boolean;
  readonly operatorIds: readonly string[];
  /** Milliseconds since the epoch. */
  readonly tokensRevokedBefore: number;
}

/**
 * Identifies callers by their bearer token. Role and firm are those of the token. As of at most five seconds ago, the user
 * must exist in that firm and has these operator ids, the token must not be revoked, and its session must not have ended.
 */
export function bearerAuthentication(options: {
  tokens: TokenRules;
  keys?: RemoteKeys;
  users: Users;
  /** As far as events have said so. */
  removedFirms?: ReadonlySet<string> | undefined;
}): (request: IncomingMessage) => Promise<Caller> {
  const verify = tokenVerifier(options.tokens, options.keys);
  const statuses = new ShortLivedCache<UserStatus>({ ttlMs: TTL_MS });

  async function findStatus({ caller, sessionUuid = '' }: VerifiedToken): Promise<UserStatus | null> {
    const { user } = await options.users.findUser(
      { user_uuid: caller.userUuid, session_uuid: sessionUuid },
      { deadlineMs: DEADLINE_MS },
    );
    if (user === undefined || user === null) return null;
    return {
      firmUuid: user.firm_uuid.toLowerCase(),
      isApiUser: user.web_api_only,
      operatorIds: user.operator_ids,
      tokensRevokedBefore: user.tokens_revoked_before === undefined ? 0 : Date.parse(user.tokens_revoked_before),
    };
  }

  return async (request) => {
    const token = await verify(tokenOf(request));
    const { caller, sessionUuid = '' } = token;
    if (options.removedFirms?.has(caller.firmUuid) === true) throw unknownUser();
    return allowed(token, await statuses.get(`${caller.userUuid} ${sessionUuid}`, () => findStatus(token)));
  };
}

function allowed({ caller, issuedAt = 0, sessionUuid }: VerifiedToken, status: UserStatus | null): Caller {
  if (status === null && sessionUuid !== undefined) {
    throw unauthenticated('The session of the bearer token has ended. Sign in again.');
  }
  if (status?.firmUuid !== caller.firmUuid) throw unknownUser();
  if (status.isApiUser) {
    throw unauthenticated("The bearer token is of a firm's API user. Send the firm's API key instead.");
  }
  if (issuedAt * 1000 < status.tokensRevokedBefore) {
    throw unauthenticated('The bearer token was revoked. Ask your system administrator for a new one.');
  }
  return caller.role === 'OPERATOR' ? { ...caller, operatorIds: status.operatorIds } : caller;
}

function unknownUser() {
  return unauthenticated(
    'The user of the bearer token is unknown, was removed or belongs to another firm. Ask your system administrator for a new one.',
  );
}

function tokenOf(request: IncomingMessage): string {
  const headers = request.headersDistinct['authorization'] ?? [];
  if (headers.length === 0) throw unauthenticated('Send the header `Authorization: Bearer <token>`.');
  if (headers.length > 1) throw unauthenticated('Send one Authorization header, not several.');
  const [header = ''] = headers;
  const token = header.slice(SCHEME.length).trim();
  // A regular expression over the complete token would take as long as looking the token up.
  const isWellFormed = header.slice(0, SCHEME.length).toLowerCase() === SCHEME && token !== '' && !token.includes(' ');
  if (!isWellFormed) throw unauthenticated('The Authorization header must read `Bearer <token>`.');
  return token;
}

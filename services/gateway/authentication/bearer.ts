import type { IncomingMessage } from 'node:http';
import type { keyManagement } from '@call-analysis/proto';
import type { User } from '@call-analysis/proto/key_management/v1/User';
import type { Client } from '@call-analysis/rpc';
import type { Caller } from './caller.ts';
import { ShortLivedCache } from './short-lived-cache.ts';
import { type RemoteKeys, type TokenRules, tokenVerifier, unauthenticated, type VerifiedToken } from './token.ts';

/** Of a user. */
const TTL_MS = 5000;
/** Shorter than that, so that no result is older. */
const DEADLINE_MS = 3000;
const SCHEME = 'bearer ';

type Users = Pick<Client<typeof keyManagement>, 'findUser'>;

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
  const users = new ShortLivedCache<User>({ ttlMs: TTL_MS });

  return async (request) => {
    const token = await verify(tokenOf(request));
    const { caller, sessionUuid = '' } = token;
    if (options.removedFirms?.has(caller.firmUuid) === true) throw unknownUser();
    const user = await users.get(`${caller.userUuid} ${sessionUuid}`, async () => {
      const asked = { user_uuid: caller.userUuid, session_uuid: sessionUuid };
      const { user: found } = await options.users.findUser(asked, { deadlineMs: DEADLINE_MS });
      return found ?? null;
    });
    return allowed(token, user);
  };
}

function allowed({ caller, issuedAt = 0, sessionUuid }: VerifiedToken, user: User | null): Caller {
  if (user === null && sessionUuid !== undefined) {
    throw unauthenticated('The session of the bearer token has ended. Sign in again.');
  }
  if (user?.firm_uuid !== caller.firmUuid) throw unknownUser();
  if (user.web_api_only) {
    throw unauthenticated("The bearer token is of a firm's API user. Send the firm's API key instead.");
  }
  const { tokens_revoked_before: revokedBefore } = user;
  if (revokedBefore !== undefined && issuedAt * 1000 < Date.parse(revokedBefore)) {
    throw unauthenticated('The bearer token was revoked. Ask your system administrator for a new one.');
  }
  return caller.role === 'OPERATOR' ? { ...caller, operatorIds: user.operator_ids } : caller;
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

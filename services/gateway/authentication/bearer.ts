import type { IncomingMessage } from 'node:http';
import type { keyManagement } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import type { Caller } from './caller.ts';
import { ShortLivedCache } from './short-lived-cache.ts';
import { type TokenRules, tokenVerifier, unauthenticated } from './token.ts';

/** Shorter than the cache's time to live, so that no result is older than that. */
const DEADLINE_MS = 3000;
const SCHEME = 'bearer ';

export type Users = Pick<Client<typeof keyManagement>, 'findUser'>;

/**
 * Identifies callers by their bearer token. Role and firm are those of the token. The user must exist in that firm, as of
 * at most `ttlMs` ago.
 */
export function bearerAuthentication(options: {
  tokens: TokenRules;
  users: Users;
  ttlMs?: number;
}): (request: IncomingMessage) => Caller | Promise<Caller> {
  const verify = tokenVerifier(options.tokens);
  const firms = new ShortLivedCache<string | null>({
    ttlMs: options.ttlMs ?? 5000,
    maxEntries: 10_000,
    keep: (firm) => firm !== null,
  });

  return (request) => {
    const caller = verify(tokenOf(request));
    const firm = firms.get(caller.userUuid, async () => {
      const { user } = await options.users.findUser({ user_uuid: caller.userUuid }, { deadlineMs: DEADLINE_MS });
      return user?.firm_uuid.toLowerCase() ?? null;
    });
    return firm instanceof Promise ? firm.then((found) => inFirm(caller, found)) : inFirm(caller, firm);
  };
}

function inFirm(caller: Caller, firm: string | null): Caller {
  if (firm === caller.firmUuid) return caller;
  throw unauthenticated('The user of the bearer token is unknown, was removed or belongs to another firm.');
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

import type { IncomingMessage } from 'node:http';
import type { keyManagement } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { headerValues } from '../http/request/header-values.ts';
import type { Caller } from './caller.ts';
import { BriefCache } from './short-lived-cache.ts';
import { type TokenRules, tokenVerifier, unauthenticated } from './token.ts';

/** Under the cache's life, so that no answer is used that is older. */
const DEADLINE_MS = 3000;
const SCHEME = 'bearer ';

export type Users = Pick<Client<typeof keyManagement>, 'findUser'>;

/**
 * Proves who sent a request by its bearer token. The role and firm that count are those of the token;
 * the user must exist, in that firm, as of at most `ttlMs` ago.
 */
export function bearerGate(options: {
  tokens: TokenRules;
  users: Users;
  ttlMs?: number;
}): (request: IncomingMessage) => Caller | Promise<Caller> {
  const verify = tokenVerifier(options.tokens);
  const firms = new BriefCache<string | null>({
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
  throw unauthenticated('The user of the bearer token is unknown, was removed or is of another firm.');
}

function tokenOf(request: IncomingMessage): string {
  const headers = headerValues(request, 'authorization');
  if (headers.length === 0) throw unauthenticated('Send the header `Authorization: Bearer <token>`.');
  if (headers.length > 1) throw unauthenticated('Send one Authorization header, not several.');
  const [header = ''] = headers;
  const token = header.slice(SCHEME.length).trim();
  // No pattern over the whole of it: that would take as long as finding out whether the token is known.
  const isWellFormed = header.slice(0, SCHEME.length).toLowerCase() === SCHEME && token !== '' && !token.includes(' ');
  if (!isWellFormed) throw unauthenticated('The Authorization header must read `Bearer <token>`.');
  return token;
}

import type { IncomingMessage } from 'node:http';
import { notFound } from '@call-analysis/fault';
import { type Caller, seenOperators } from '../authentication/caller.ts';
import { callParameter, type Endpoint } from '../http/endpoint.ts';
import { pathUuid } from '../http/request/parse.ts';
import { callerOf, type Services } from './rpc-caller.ts';

const EXTERNAL = '/external';
/** Data and campaigns. What a key made of people, such as a user or a link to sign in, would outlive the key. */
const OFFERED = /^\/api\/v1\/(?:calls|audio|jobs|scorecards|statistics|webhooks|usage|budget)(?:\/|$)/;
/** What people do at their desk about a call. A key is nobody. */
const OF_PEOPLE = /\/(?:acknowledge|assignment|desk|disputes)$/;

/**
 * The endpoints, and those that integrations use a second time under `/external/api/v1/`, where an API key of the firm takes
 * the place of a bearer token. Such a caller has the rights of an ADMIN.
 */
export function withExternal(endpoints: readonly Endpoint[]): Endpoint[] {
  return endpoints.flatMap((each) => {
    if (each.credentials !== 'bearer' || !OFFERED.test(each.path) || OF_PEOPLE.test(each.path)) return [each];
    const docs = { ...each.docs, id: `${each.docs.id}ByApiKey` };
    return [each, { ...each, path: EXTERNAL + each.path, credentials: 'api-key', docs }];
  });
}

/** The path under which the sender of this request reaches a path of `/api/v1/` with the same credentials. */
export function pathForCaller(request: IncomingMessage, path: string): string {
  return request.url?.startsWith(`${EXTERNAL}/`) ? EXTERNAL + path : path;
}

/**
 * The endpoints, of which each that names a call in its path answers NOT_FOUND to an OPERATOR who does not see the call, as
 * for a call of another firm. It stands before all of them, so that none can forget it.
 */
export function ofSeenCalls(endpoints: readonly Endpoint[], { ingest }: Services): Endpoint[] {
  return endpoints.map((each) => {
    const parameter = callParameter(each.path);
    if (parameter === undefined) return each;
    return {
      ...each,
      async handle(input) {
        const caller = input.caller as Caller | null;
        if (caller !== null && seenOperators(caller) !== null) {
          const call_uuid = pathUuid(input.params[parameter], 'call');
          const { sees } = await ingest.seesCall({ caller: callerOf(caller), call_uuid });
          if (!sees) throw notFound('call');
        }
        return each.handle(input);
      },
    };
  });
}

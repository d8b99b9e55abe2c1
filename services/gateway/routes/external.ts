import type { IncomingMessage } from 'node:http';
import type { Endpoint } from '../http/endpoint.ts';

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

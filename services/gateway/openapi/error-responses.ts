import { EVERY_ROLE } from '../authentication/caller.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { type ErrorCode, errors } from '../http/errors.ts';

export const RATE_LIMIT_HEADERS = {
  'RateLimit-Policy': 'How many requests are allowed in how many seconds, by firm and by address.',
  RateLimit: 'How many requests are left, and the seconds until all of them are available again.',
};

const RETRY_AFTER = { 'Retry-After': 'Seconds to wait before trying again.' };

const HEADERS: Record<number, Record<string, string>> = {
  401: { 'WWW-Authenticate': '`Bearer`, where a bearer token is required.' },
  405: { Allow: 'The methods that this address accepts.' },
  429: { ...RATE_LIMIT_HEADERS, ...RETRY_AFTER },
  503: RETRY_AFTER,
};

/** The error responses of an endpoint by status. */
export function errorResponses(endpoint: Endpoint): Record<string, unknown> {
  const all = new Set<ErrorCode>([...usualErrors(endpoint), ...(endpoint.docs.errors ?? [])]);
  const byStatus = Map.groupBy(all, (name) => errors[name][0]);
  return Object.fromEntries([...byStatus].map(([status, names]) => [status, responseWith(status, names)]));
}

/** The response to a method that a path does not have. It belongs to no operation. */
export function methodNotAllowed(): object {
  return responseWith(405, ['METHOD_NOT_ALLOWED']);
}

/** An example for every error. */
export function errorExamples(): Record<string, object> {
  return Object.fromEntries(
    (Object.keys(errors) as ErrorCode[]).map((name) => {
      const value = { status: 'error', code: codeOf(name), message: errors[name][1], details: null };
      return [name, { summary: errors[name][1], value }];
    }),
  );
}

export function headersOf(descriptions: Readonly<Record<string, string>>): Record<string, object> {
  return Object.fromEntries(
    Object.entries(descriptions).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  );
}

function responseWith(status: number, names: readonly ErrorCode[]): object {
  const codes = [...new Set(names.map(codeOf))];
  return {
    description: codes.join(', '),
    ...(status in HEADERS && { headers: headersOf(HEADERS[status] ?? {}) }),
    content: {
      'application/json': {
        schema: {
          allOf: [{ $ref: '#/components/schemas/Error' }, { type: 'object', properties: { code: { enum: codes } } }],
        },
        examples: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/examples/${name}` }])),
      },
    },
  };
}

/** The errors that follow from what an endpoint requires. */
function usualErrors({ credentials, roles, body, path, unlimited, docs }: Endpoint): ErrorCode[] {
  // An endpoint without a body refuses any body but an empty JSON object.
  const isJson = body === null ? docs.bytes === undefined : !('parts' in body);
  return [
    'VALIDATION_ERROR',
    'INVALID_REQUEST',
    ...(isJson ? (['INVALID_JSON', 'REQUEST_TIMEOUT', 'BODY_TOO_LARGE'] as const) : []),
    ...(body !== null && !isJson ? (['MISSING_FILE', 'FILE_TOO_LARGE', 'REQUEST_TIMEOUT'] as const) : []),
    ...(credentials === 'bearer' ? (['UNAUTHENTICATED'] as const) : []),
    ...(credentials === 'api-key' ? (['API_KEY_REQUIRED', 'API_KEY_MALFORMED', 'API_KEY_INVALID'] as const) : []),
    ...(credentials === 'bearer' && roles.length < EVERY_ROLE.length ? (['FORBIDDEN'] as const) : []),
    ...(path.includes(':') ? (['NOT_FOUND'] as const) : []),
    ...(unlimited === true ? [] : (['RATE_LIMITED'] as const)),
    'HEADERS_TOO_LARGE',
    ...(docs.tag === 'Service' ? [] : (['INTERNAL', 'UNAVAILABLE'] as const)),
  ];
}

function codeOf(name: ErrorCode): string {
  return errors[name][2] ?? name;
}

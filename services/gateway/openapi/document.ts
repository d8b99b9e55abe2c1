import { FieldErrors, OtherDetails, RowErrors } from '@call-analysis/api/error-details';
import { type JsonSchema, Schemas } from '@call-analysis/api/json-schemas';
import { Uuid } from '@call-analysis/events';
import { z } from 'zod';
import { EVERY_ROLE } from '../authentication/caller.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { type ErrorCode, errors } from '../http/errors.ts';
import type { Form } from '../http/multipart/form.ts';
import { type OperationDocs, type ResponseDocs, tags } from '../http/operation-docs.ts';

export type OpenApi = Readonly<Record<string, unknown>>;

const DESCRIPTION = `Accepts transcripts and recordings of a call centre's conversations, scores each one by the firm's scorecard, and returns the results. Every score is explained: each answer quotes the words that support it.

JSON is snake_case, times are ISO 8601 in UTC, durations are in seconds. Unknown fields and query parameters are refused. Every response of 400 and above has the same shape, and its \`message\` says what to do next. A method that a path does not have is refused with \`METHOD_NOT_ALLOWED\`, and the \`Allow\` header lists the methods that it has. Every response has an \`x-request-id\`, which a request may set; quote it when you report a problem.

Get Calls and uploads require a **bearer token**, which a system administrator issues. Campaigns require an **API key**. An API key contains a \`$\`: in a shell, put it in single quotes.`;

const ErrorBody = z
  .object({
    status: z.literal('error'),
    code: z.string().meta({ description: 'The kind of error, for programs.' }),
    message: z.string().meta({ description: 'What is wrong and what to do next, for people to read.' }),
    details: z
      .union([FieldErrors, RowErrors, OtherDetails])
      .nullable()
      .meta({ description: 'More about the error; its fields depend on the code.' }),
  })
  .meta({ id: 'Error' });

const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'Issued by a system administrator. Claims: sub (user), firm, role, iss, aud, exp.',
  },
  'api-key': {
    type: 'apiKey',
    in: 'header',
    name: 'x-service-api-key',
    description: 'A key of the firm, with the rights of an ADMIN. It is shown once, when it is created.',
  },
};

/** Bodies that are not JSON. Without a schema generated clients would not return them. */
const BYTES = { schema: { type: 'string', format: 'binary' } };
const TEXT = { schema: { type: 'string' } };

/** The OpenAPI 3.1 document of these endpoints. Clients reach them under the path `base`. */
export function openApiDocument(endpoints: readonly Endpoint[], base = '/'): OpenApi {
  const schemas = new Schemas();
  schemas.response(ErrorBody);
  const paths: Record<string, Record<string, unknown>> = {};
  for (const each of endpoints) {
    const onPath = (paths[documentPath(each.path)] ??= {});
    onPath[each.method.toLowerCase()] = operation(each, schemas);
  }
  return {
    openapi: '3.1.1',
    info: { title: 'Call Analysis Service', version: '1', description: DESCRIPTION },
    servers: [{ url: base }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: schemas.components,
      responses: { MethodNotAllowed: methodNotAllowed() },
      examples: errorExamples(),
      securitySchemes,
    },
  };
}

/** `/calls/:uuid` in the notation of the document: `/calls/{uuid}`. */
export function documentPath(path: string): string {
  return path.replace(/[:*](\w+)/g, '{$1}');
}

function operation(endpoint: Endpoint, schemas: Schemas): object {
  const { credentials, roles, docs } = endpoint;
  const isLimited = credentials === 'bearer' && roles.length < EVERY_ROLE.length;
  const role = isLimited ? `Requires the role ${roles.join(' or ')}.` : '';
  const description = [docs.description, role].filter(Boolean).join('\n\n');
  return {
    tags: [docs.tag],
    operationId: docs.id,
    summary: docs.summary,
    ...(description !== '' && { description }),
    security: credentials === 'none' ? [] : [{ [credentials]: [] }],
    parameters: [
      ...pathParameters(endpoint.path, docs, schemas),
      ...queryParameters(endpoint.query, schemas),
      ...headerParameters(docs, schemas),
    ],
    ...requestBody(endpoint, schemas),
    responses: { ...successResponses(endpoint, schemas), ...errorResponses(endpoint) },
  };
}

function pathParameters(path: string, docs: OperationDocs, schemas: Schemas): object[] {
  return Array.from(path.matchAll(/[:*](\w+)/g), ([, name = '']) => {
    const schema = docs.params?.[name] ?? Uuid;
    return { name, in: 'path', required: true, schema: schemas.request(schema) };
  });
}

function queryParameters(query: z.ZodObject, schemas: Schemas): object[] {
  return Object.entries(query.shape as Record<string, z.ZodType>).map(([name, field]) => {
    const { description, ...schema } = schemas.request(field);
    const required = !field.safeParse(undefined).success;
    return { name, in: 'query', required, ...(description !== undefined && { description }), schema };
  });
}

function headerParameters(docs: OperationDocs, schemas: Schemas): object[] {
  return Object.entries(docs.headers ?? {}).map(([name, { description, schema }]) => ({
    name,
    in: 'header',
    required: !schema.safeParse(undefined).success,
    description,
    schema: schemas.request(schema),
  }));
}

function requestBody({ body, optionalBody = false, docs }: Endpoint, schemas: Schemas): object {
  if (body === null) {
    if (docs.bytes === undefined) return {};
    return { requestBody: { required: true, description: docs.bytes, content: { 'application/octet-stream': BYTES } } };
  }
  const content =
    'parts' in body
      ? { 'multipart/form-data': multipart(body, docs, schemas) }
      : { 'application/json': jsonContent(body, schemas.request(body)) };
  return { requestBody: { required: !optionalBody, content } };
}

function multipart(form: Form, docs: OperationDocs, schemas: Schemas): object {
  const parts = Object.entries(form.parts).map(([name, { kind }]): [string, JsonSchema] => {
    const json = docs.jsonParts?.[name];
    if (kind === 'file') return [name, { type: 'string', format: 'binary' }];
    if (json === undefined) return [name, { type: 'string' }];
    return [name, { type: 'string', contentMediaType: 'application/json', contentSchema: schemas.request(json) }];
  });
  const required = parts.map(([name]) => name);
  return { schema: { type: 'object', properties: Object.fromEntries(parts), required, additionalProperties: false } };
}

function successResponses({ unlimited, docs }: Endpoint, schemas: Schemas): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(docs.responses).map(([status, response]) => [
      status,
      {
        description: response.description,
        headers: headersOf({ ...(unlimited !== true && RATE_LIMIT_HEADERS), ...response.headers }),
        ...content(response, schemas),
      },
    ]),
  );
}

function content({ type = [], schema }: ResponseDocs, schemas: Schemas): object {
  const media = {
    ...(schema !== undefined && { 'application/json': jsonContent(schema, schemas.response(schema)) }),
    ...Object.fromEntries([type].flat().map((each) => [each, each.startsWith('text/') ? TEXT : BYTES])),
  };
  return Object.keys(media).length === 0 ? {} : { content: media };
}

function jsonContent(schema: z.ZodType, converted: JsonSchema): object {
  const [example] = (z.globalRegistry.get(schema)?.examples ?? []) as unknown[];
  return { schema: converted, ...(example !== undefined && { example }) };
}

const RATE_LIMIT_HEADERS = {
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
function errorResponses(endpoint: Endpoint): Record<string, unknown> {
  const all = new Set<ErrorCode>([...usualErrors(endpoint), ...(endpoint.docs.errors ?? [])]);
  const byStatus = Map.groupBy(all, (name) => errors[name][0]);
  return Object.fromEntries([...byStatus].map(([status, names]) => [status, responseWith(status, names)]));
}

/** The response to a method that a path does not have. It belongs to no operation. */
function methodNotAllowed(): object {
  return responseWith(405, ['METHOD_NOT_ALLOWED']);
}

/** An example for every error. */
function errorExamples(): Record<string, object> {
  return Object.fromEntries(
    (Object.keys(errors) as ErrorCode[]).map((name) => {
      const value = { status: 'error', code: codeOf(name), message: errors[name][1], details: null };
      return [name, { summary: errors[name][1], value }];
    }),
  );
}

function headersOf(descriptions: Readonly<Record<string, string>>): Record<string, object> {
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

import { z } from 'zod';
import type { Endpoint } from '../http/endpoint.ts';
import type { Form } from '../http/multipart/form.ts';
import { uuid } from '../http/request/fields.ts';
import { FieldsAtFault, RowsAtFault } from '../response-schemas/error-details.ts';
import { type RefusalCode, refusals } from './errors.ts';
import { type About, type Said, tags } from './operation.ts';
import { type JsonSchema, Schemas } from './schemas.ts';

export type OpenApi = Readonly<Record<string, unknown>>;

const DESCRIPTION = `Takes in transcripts and recordings of a call centre's conversations, scores each one by the firm's scorecard, and gives the results back. Every score is explained: each answer carries the words it rests on.

JSON is snake_case, times are ISO 8601 in UTC, durations are seconds. Unknown fields and query parameters are refused. Every answer of 400 and above has the same shape, and its \`message\` says what to do next. A method that a path does not take is answered with \`METHOD_NOT_ALLOWED\`, and \`Allow\` names those that it takes. \`x-request-id\` may be sent and is always answered; quote it when you report a problem.

Get Calls and uploads take a **bearer token**, which a system administrator issues; campaigns take an **API key**. An API key contains a \`$\`: in a shell, write it in single quotes.`;

const ErrorBody = z
  .object({
    status: z.literal('error'),
    code: z.string().meta({ description: 'What is wrong, for programs.' }),
    message: z.string().meta({ description: 'What is wrong and what to do next, for people.' }),
    details: z
      .union([FieldsAtFault, RowsAtFault, z.record(z.string(), z.unknown())])
      .nullable()
      .meta({ description: 'What helps to find the fault.' }),
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
    description: 'A key of the firm, with the rights of an ADMIN. It is shown once, when it is made.',
  },
};

const LIMITS = {
  'RateLimit-Policy': 'How many requests are taken in how many seconds, by firm and by address.',
  RateLimit: 'How many of them are left, and in how many seconds all of them will be again.',
};

/** The OpenAPI 3.1 document of these endpoints, which clients find under such a path. */
export function openApiDocument(endpoints: readonly Endpoint[], base = '/'): OpenApi {
  const schemas = new Schemas();
  schemas.answered(ErrorBody);
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
      // No operation has this answer: it comes where there is none.
      responses: { MethodNotAllowed: refusalOf(405, ['METHOD_NOT_ALLOWED']) },
      examples: exampleRefusals(),
      securitySchemes,
    },
  };
}

/** `/calls/:uuid` as the document writes it: `/calls/{uuid}`. */
export function documentPath(path: string): string {
  return path.replace(/[:*](\w+)/g, '{$1}');
}

function operation(endpoint: Endpoint, schemas: Schemas): object {
  const { proof, roles, about } = endpoint;
  const role = roles === undefined ? '' : `Takes the role ${roles.join(' or ')}.`;
  const description = [about.description, role].filter(Boolean).join('\n\n');
  return {
    tags: [about.tag],
    operationId: operationId(about.summary),
    summary: about.summary,
    ...(description !== '' && { description }),
    ...(proof !== 'none' && { security: [{ [proof]: [] }] }),
    parameters: [
      ...pathParameters(endpoint.path, about, schemas),
      ...queryParameters(endpoint.query, schemas),
      ...headerParameters(about, schemas),
    ],
    ...requestBody(endpoint.body, about, schemas),
    responses: { ...goodAnswers(endpoint, schemas), ...refusalsOf(endpoint) },
  };
}

/** `List API keys` becomes `listApiKeys`. */
function operationId(summary: string): string {
  const [first = '', ...rest] = summary
    .replace(/[^A-Za-z0-9 ]/g, '')
    .toLowerCase()
    .split(' ');
  return first + rest.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
}

function pathParameters(path: string, about: About, schemas: Schemas): object[] {
  return Array.from(path.matchAll(/[:*](\w+)/g), ([, name = '']) => {
    const schema = about.params?.[name] ?? uuid();
    return { name, in: 'path', required: true, schema: schemas.sent(schema) };
  });
}

function queryParameters(query: z.ZodObject, schemas: Schemas): object[] {
  return Object.entries(query.shape as Record<string, z.ZodType>).map(([name, field]) => {
    const { description, ...schema } = schemas.sent(field);
    // Undefined stands for a parameter that was not sent.
    const required = !field.safeParse(undefined).success;
    return { name, in: 'query', required, ...(description !== undefined && { description }), schema };
  });
}

function headerParameters(about: About, schemas: Schemas): object[] {
  return Object.entries(about.headers ?? {}).map(([name, { description, schema }]) => ({
    name,
    in: 'header',
    required: !schema.safeParse(undefined).success,
    description,
    schema: schemas.sent(schema),
  }));
}

function requestBody(body: Endpoint['body'], about: About, schemas: Schemas): object {
  if (body === null) {
    if (about.bytes === undefined) return {};
    return { requestBody: { required: true, description: about.bytes, content: { 'application/octet-stream': {} } } };
  }
  const content =
    'parts' in body
      ? { 'multipart/form-data': multipart(body, about, schemas) }
      : { 'application/json': jsonContent(body, schemas.sent(body)) };
  return { requestBody: { required: true, content } };
}

function multipart(form: Form, about: About, schemas: Schemas): object {
  const parts = Object.entries(form.parts).map(([name, { kind }]): [string, JsonSchema] => {
    const json = about.jsonParts?.[name];
    if (kind === 'file') return [name, { type: 'string', format: 'binary' }];
    if (json === undefined) return [name, { type: 'string' }];
    return [name, { type: 'string', contentMediaType: 'application/json', contentSchema: schemas.sent(json) }];
  });
  const required = parts.map(([name]) => name);
  return { schema: { type: 'object', properties: Object.fromEntries(parts), required, additionalProperties: false } };
}

function goodAnswers({ unlimited, about }: Endpoint, schemas: Schemas): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(about.answers).map(([status, said]) => [
      status,
      {
        description: said.description,
        headers: headersOf({ ...(unlimited !== true && LIMITS), ...said.headers }),
        ...content(said, schemas),
      },
    ]),
  );
}

function content(said: Said, schemas: Schemas): object {
  if (said.type !== undefined) return { content: Object.fromEntries([said.type].flat().map((type) => [type, {}])) };
  if (said.schema === undefined) return {};
  return { content: { 'application/json': jsonContent(said.schema, schemas.answered(said.schema)) } };
}

function jsonContent(schema: z.ZodType, converted: JsonSchema): object {
  const [example] = (z.globalRegistry.get(schema)?.examples ?? []) as unknown[];
  return { schema: converted, ...(example !== undefined && { example }) };
}

function refusalsOf(endpoint: Endpoint): Record<string, unknown> {
  const names = new Set<RefusalCode>([...usualRefusals(endpoint), ...(endpoint.about.refusals ?? [])]);
  const byStatus = Map.groupBy(names, (name) => refusals[name][0]);
  return Object.fromEntries([...byStatus].map(([status, named]) => [status, refusalOf(status, named)]));
}

function refusalOf(status: number, named: readonly RefusalCode[]): object {
  const codes = [...new Set(named.map(codeOf))];
  return {
    description: codes.join(', '),
    ...(status in HEADERS && { headers: headersOf(HEADERS[status] ?? {}) }),
    content: {
      'application/json': {
        schema: {
          allOf: [{ $ref: '#/components/schemas/Error' }, { type: 'object', properties: { code: { enum: codes } } }],
        },
        examples: Object.fromEntries(named.map((name) => [name, { $ref: `#/components/examples/${name}` }])),
      },
    },
  };
}

const RETRY = { 'Retry-After': 'Seconds after which it is worth trying again.' };
const HEADERS: Record<number, Record<string, string>> = {
  401: { 'WWW-Authenticate': '`Bearer`, where a bearer token is asked for.' },
  405: { Allow: 'The methods that this address takes.' },
  429: { ...LIMITS, ...RETRY },
  503: RETRY,
};

/** What an endpoint can be refused with because of what it asks for. */
function usualRefusals({ proof, roles, body, path, unlimited, about }: Endpoint): RefusalCode[] {
  // Where nothing is to be sent, what is sent must be an object without fields.
  const isJson = body === null ? about.bytes === undefined : !('parts' in body);
  return [
    'VALIDATION_ERROR',
    'INVALID_REQUEST',
    ...(isJson ? (['INVALID_JSON', 'REQUEST_TIMEOUT', 'BODY_TOO_LARGE'] as const) : []),
    ...(body !== null && !isJson ? (['MISSING_FILE', 'FILE_TOO_LARGE', 'REQUEST_TIMEOUT'] as const) : []),
    ...(proof === 'bearer' ? (['UNAUTHENTICATED'] as const) : []),
    ...(proof === 'api-key' ? (['API_KEY_REQUIRED', 'API_KEY_MALFORMED', 'API_KEY_INVALID'] as const) : []),
    ...(roles !== undefined ? (['FORBIDDEN'] as const) : []),
    ...(path.includes(':') ? (['NOT_FOUND'] as const) : []),
    ...(unlimited === true ? [] : (['RATE_LIMITED'] as const)),
    'HEADERS_TOO_LARGE',
    ...(about.tag === 'Service' ? [] : (['INTERNAL', 'UNAVAILABLE'] as const)),
  ];
}

function codeOf(name: RefusalCode): string {
  return refusals[name][2] ?? name;
}

function exampleRefusals(): Record<string, object> {
  return Object.fromEntries(
    (Object.keys(refusals) as RefusalCode[]).map((name) => {
      const value = { status: 'error', code: codeOf(name), message: refusals[name][1], details: null };
      return [name, { summary: refusals[name][1], value }];
    }),
  );
}

function headersOf(described: Readonly<Record<string, string>>): Record<string, object> {
  return Object.fromEntries(
    Object.entries(described).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  );
}

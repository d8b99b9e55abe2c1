import addFormats from 'ajv-formats';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { fetchWhenAvailable } from './retry.ts';

interface Operation {
  readonly responses: Record<
    string,
    { headers?: Record<string, unknown>; content?: Record<string, { schema?: object }> }
  >;
}

interface Document {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, object> };
}

/** The OpenAPI document of the service, and a client that checks each response against it. */
export interface OpenApi {
  /** Such as `GET /api/v1/calls`. */
  readonly operations: readonly string[];
  /** The operations that have been answered successfully. */
  readonly answered: ReadonlySet<string>;
  /** Sends a request. Throws when the document does not describe the response. */
  fetch(
    operation: string,
    url: string,
    init?: RequestInit,
  ): Promise<{ status: number; headers: Headers; body: unknown }>;
}

export async function openApiOf(serviceUrl: string): Promise<OpenApi> {
  const document = (await (await fetch(`${serviceUrl}/openapi.json`)).json()) as Document;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  // Every time of a response is in UTC, which the document says in words.
  ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const answered = new Set<string>();
  // The schemas of the document refer to each other. Compiling one takes far longer than a request, so each is compiled once.
  ajv.addSchema(document, 'document');

  function validatorOf(...path: readonly string[]): ValidateFunction {
    const pointer = path.map((each) => encodeURIComponent(each.replaceAll('~', '~0').replaceAll('/', '~1')));
    return ajv.getSchema(`document#/${pointer.join('/')}`)!;
  }

  function check(operation: string, status: number, type: string | null, body: unknown): void {
    const [method = '', path = ''] = operation.split(' ');
    const described = document.paths[path]?.[method.toLowerCase()]?.responses[status];
    const said = `${operation} answered ${status} ${type}: ${JSON.stringify(body)?.slice(0, 500)}`;
    if (described === undefined) throw new Error(`The status is not in the document. ${said}`);
    const mediaType = type?.replace(/;.*/, '') ?? '';
    const media = described.content?.[mediaType];
    if ((described.content === undefined) !== (type === null))
      throw new Error(`The body is not as in the document. ${said}`);
    if (described.content === undefined) return;
    if (media === undefined) throw new Error(`The content type is not in the document. ${said}`);
    if (media.schema === undefined) return;
    const validate = validatorOf(
      'paths',
      path,
      method.toLowerCase(),
      'responses',
      String(status),
      'content',
      mediaType,
      'schema',
    );
    if (!validate(body)) throw new Error(`${ajv.errorsText(validate.errors)}. ${said}`);
  }

  return {
    operations,
    answered,
    async fetch(operation, url, init = {}) {
      const response = await fetchWhenAvailable(new URL(url, serviceUrl), {
        method: operation.split(' ')[0] ?? '',
        ...init,
      });
      const text = await response.text();
      const type = response.headers.get('content-type');
      const body: unknown = type === 'application/json' ? JSON.parse(text) : text;
      check(operation, response.status, type, body);
      if (response.status < 400) answered.add(operation);
      return { status: response.status, headers: response.headers, body };
    },
  };
}

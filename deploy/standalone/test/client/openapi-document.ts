import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
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

/** The service's own document, and whether answers are what it says. */
export interface OpenApi {
  /** `GET /api/v1/calls` and all others. */
  readonly operations: readonly string[];
  /** Good answers that were checked, by operation. */
  readonly answered: ReadonlySet<string>;
  /** Sends a request and throws when the answer is not in the document; resolves to the answer's status and body. */
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
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const answered = new Set<string>();

  function check(operation: string, status: number, type: string | null, body: unknown): void {
    const [method = '', path = ''] = operation.split(' ');
    const described = document.paths[path]?.[method.toLowerCase()]?.responses[status];
    const said = `${operation} answered ${status} ${type}: ${JSON.stringify(body)?.slice(0, 500)}`;
    if (described === undefined) throw new Error(`The status is not in the document. ${said}`);
    const media = described.content?.[type?.replace(/;.*/, '') ?? ''];
    if ((described.content === undefined) !== (type === null))
      throw new Error(`The body is not as in the document. ${said}`);
    if (described.content === undefined) return;
    if (media === undefined) throw new Error(`The content type is not in the document. ${said}`);
    if (media.schema === undefined) return;
    const whole = JSON.stringify({ ...media.schema, $defs: document.components.schemas });
    const validate = ajv.compile(JSON.parse(whole.replaceAll('"#/components/schemas/', '"#/$defs/')) as object);
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
      if (response.ok) answered.add(operation);
      return { status: response.status, headers: response.headers, body };
    },
  };
}

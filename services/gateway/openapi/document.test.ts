import { glob, readFile } from 'node:fs/promises';
import { Readiness } from '@call-analysis/runtime';
import { describe, expect, it } from '@jest/globals';
import addFormats from 'ajv-formats';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { type Backends, endpointsOf } from '../gateway.ts';
import { errors } from '../http/errors.ts';
import { documentPath, openApiDocument } from './document.ts';

interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  parameters: { name: string; in: string; required: boolean; schema: object }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { description: string; content?: Record<string, Media> }>;
  security: object[];
}

interface Media {
  schema?: object;
  example?: unknown;
  examples?: Record<string, { $ref: string }>;
}

interface Document {
  openapi: string;
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, object>;
    responses: Record<string, object>;
    examples: Record<string, { value: object }>;
  };
}

const endpoints = endpointsOf({}, {} as Backends, new Readiness([]));
const document = JSON.parse(JSON.stringify(openApiDocument(endpoints))) as Document;
const operations = Object.entries(document.paths).flatMap(([path, onPath]) =>
  Object.entries(onPath).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, path, operation })),
);

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ $id: 'document', components: document.components });

// Compiling a schema takes far longer than a check, and most operations have the same ones for their errors.
const validators = new Map<string, ValidateFunction>();

function faultsOf(schema: object, value: unknown): unknown[] {
  const inDocument = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
  const validate = validators.get(inDocument) ?? ajv.compile(JSON.parse(inDocument) as object);
  validators.set(inDocument, validate);
  return validate(value) ? [] : (validate.errors ?? []);
}

const WORD = /\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g;

/** Words in capitals in the services that no client receives as a code. */
const NOT_CODES = new Set([
  // A role, a variable, and error codes of other programs.
  'WORKFLOW_ENGINEER',
  'LLM_PRICE_INPUT',
  'ERR_HTTP_REQUEST_TIMEOUT',
  'ERR_STREAM_PREMATURE_CLOSE',
  'UND_ERR_CONNECT_TIMEOUT',
  'OAUTH_TIMEOUT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  // Types of Parquet.
  'BYTE_ARRAY',
  'TIMESTAMP_MILLIS',
  'HPE_HEADER_OVERFLOW',
  'Z_BUF_ERROR',
  'Z_DATA_ERROR',
  // The name of an example, whose code is FILE_TOO_LARGE.
  'UPLOAD_TOO_LARGE',
  // Why an event is retried. Its call no longer exists.
  'ERASURE_UNFINISHED',
]);

/** Tests, files with names of environment variables, and what only an administrator's command calls. */
const IGNORED_FILES =
  /^installing\/|(^|\/)test\/|\.test\.ts$|under-test|contract\.ts$|main\.ts$|config\.ts$|variables\.ts$/;

/** Every string that looks like a code in the services whose errors clients receive. */
async function codesInUse(): Promise<Set<string>> {
  const found = new Set<string>();
  for (const service of ['gateway', 'ingest', 'audio', 'transcription', 'analysis', 'webhooks']) {
    const folder = new URL(`../../${service}/`, import.meta.url);
    const sources = glob('**/*.ts', {
      cwd: folder,
      exclude: (name) => name === 'node_modules' || name === 'generated',
    });
    for await (const name of sources) {
      if (IGNORED_FILES.test(name)) continue;
      const source = await readFile(new URL(name, folder), 'utf8');
      for (const [, code = ''] of source.matchAll(/'([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)'/g)) found.add(code);
    }
  }
  return found;
}

describe('the OpenAPI document', () => {
  it('has every endpoint once', () => {
    const served = endpoints.map(({ method, path }) => `${method} ${documentPath(path)}`);
    expect(operations.map(({ name }) => name).sort()).toEqual([...new Set(served)].sort());
    expect(served).toHaveLength(new Set(served).size);
  });

  it('has a unique name for every operation', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z0-9]+$/);
  });

  it('has no dangling references', () => {
    const references = JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g);
    for (const [, path = ''] of references) {
      const found = path.split('/').reduce<unknown>((at, part) => Reflect.get(at as object, part), document);
      expect([path, typeof found]).toEqual([path, 'object']);
    }
  });

  it('has an example for every code, in the error shape', () => {
    expect(Object.keys(document.components.examples)).toEqual(Object.keys(errors));
    for (const { value } of Object.values(document.components.examples)) {
      expect(faultsOf({ $ref: '#/components/schemas/Error' }, value)).toEqual([]);
    }
  });

  it('names every code that the services can return', async () => {
    const words = new Set(
      JSON.stringify({ paths: document.paths, ...document.components.schemas, ...document.components.responses }).match(
        WORD,
      ),
    );
    expect([...(await codesInUse())].filter((code) => !words.has(code) && !NOT_CODES.has(code))).toEqual([]);
  });

  it('lists INVALID_JSON for every endpoint without a body', () => {
    for (const { method, path, body, docs } of endpoints) {
      if (body !== null || docs.bytes !== undefined) continue;
      const { responses } = document.paths[documentPath(path)]?.[method.toLowerCase()] ?? {};
      expect(responses?.['400']?.description).toContain('INVALID_JSON');
    }
  });

  describe.each(operations)('$name', ({ path, operation }) => {
    it('has a summary, success responses and error responses', () => {
      expect(operation.summary).toMatch(/^[A-Z][\w' ,-]+$/);
      expect(document.tags.map(({ name }) => name)).toEqual(expect.arrayContaining(operation.tags));
      const statuses = Object.keys(operation.responses);
      expect(statuses.filter((status) => /^[23]/.test(status))).not.toEqual([]);
      expect(statuses).toEqual(expect.arrayContaining(['400', '431']));
      if (operation.security.length > 0) expect(statuses).toEqual(expect.arrayContaining(['401', '429', '500', '503']));
    });

    it('has a parameter for every variable of its path', () => {
      const named = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name);
      expect(operation.parameters.filter((each) => each.in === 'path').map(({ name }) => name)).toEqual(named);
    });

    it('has examples that match their schemas', () => {
      const bodies = [operation.requestBody, ...Object.values(operation.responses)];
      for (const { schema, example, examples = {} } of bodies.flatMap((each) => Object.values(each?.content ?? {}))) {
        if (schema === undefined) continue;
        if (example !== undefined) expect(faultsOf(schema, example)).toEqual([]);
        for (const { $ref } of Object.values(examples)) {
          const { value } = document.components.examples[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {};
          expect(faultsOf(schema, value)).toEqual([]);
        }
      }
    });

    it('has an example of its JSON request body', () => {
      const body = operation.requestBody?.content['application/json'];
      if (body !== undefined) expect(body.example).toBeDefined();
    });
  });
});

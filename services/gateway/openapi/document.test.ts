import { readdir, readFile } from 'node:fs/promises';
import { Readiness } from '@call-analysis/runtime';
import { describe, expect, it } from '@jest/globals';
import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type Behind, endpointsOf } from '../gateway.ts';
import { documentPath, openApiDocument } from './document.ts';
import { refusals } from './errors.ts';

interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  parameters: { name: string; in: string; required: boolean; schema: object }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { description: string; content?: Record<string, Media> }>;
  security?: object[];
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

const endpoints = endpointsOf({}, {} as Behind, new Readiness([]));
const document = JSON.parse(JSON.stringify(openApiDocument(endpoints))) as Document;
const operations = Object.entries(document.paths).flatMap(([path, onPath]) =>
  Object.entries(onPath).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, path, operation })),
);

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);

function faultsOf(schema: object, value: unknown): unknown[] {
  const whole = JSON.stringify({ ...schema, $defs: document.components.schemas });
  const validate = ajv.compile(JSON.parse(whole.replaceAll('"#/components/schemas/', '"#/$defs/')) as object);
  return validate(value) ? [] : (validate.errors ?? []);
}

const WORD = /\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g;

/** What the services write in capitals that no client gets as a code. */
const ELSEWHERE = new Set([
  // A role, and what other programs call their failures.
  'WORKFLOW_ENGINEER',
  'ERR_HTTP_REQUEST_TIMEOUT',
  'ERR_STREAM_PREMATURE_CLOSE',
  'HPE_HEADER_OVERFLOW',
  'Z_BUF_ERROR',
  'Z_DATA_ERROR',
  // An example's name; its code is FILE_TOO_LARGE.
  'UPLOAD_TOO_LARGE',
  // Why an event is done again, which is about no call that is still there.
  'ERASURE_UNFINISHED',
]);

/** Tests, and where the names of environment variables stand. */
const NO_CODES =
  /node_modules|generated|(^|\/)test\/|\.test\.ts$|under-test|contract\.ts$|main\.ts$|config\.ts$|variables\.ts$/;

/** Every word that is written like a code, and as a text of its own, in the programs of the services that clients hear of. */
async function codesInUse(): Promise<Set<string>> {
  const found = new Set<string>();
  for (const service of ['gateway', 'ingest', 'audio', 'transcription', 'analysis']) {
    const folder = new URL(`../../${service}/`, import.meta.url);
    for (const name of await readdir(folder, { recursive: true })) {
      if (!name.endsWith('.ts') || NO_CODES.test(name)) continue;
      const source = await readFile(new URL(name, folder), 'utf8');
      for (const [, code = ''] of source.matchAll(/'([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)'/g)) found.add(code);
    }
  }
  return found;
}

describe('the OpenAPI document', () => {
  it('has every endpoint, and none twice', () => {
    const served = endpoints.map(({ method, path }) => `${method} ${documentPath(path)}`);
    expect(operations.map(({ name }) => name).sort()).toEqual([...new Set(served)].sort());
    expect(served).toHaveLength(new Set(served).size);
  });

  it('names every operation by itself', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z0-9]+$/);
  });

  it('refers to nothing that is not there', () => {
    const references = JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g);
    for (const [, path = ''] of references) {
      const found = path.split('/').reduce<unknown>((at, part) => Reflect.get(at as object, part), document);
      expect([path, typeof found]).toEqual([path, 'object']);
    }
  });

  it('has an example for every code, in the shape of all errors', () => {
    expect(Object.keys(document.components.examples)).toEqual(Object.keys(refusals));
    for (const { value } of Object.values(document.components.examples)) {
      expect(faultsOf({ $ref: '#/components/schemas/Error' }, value)).toEqual([]);
    }
  });

  it('names every code that the services behind an answer can give', async () => {
    const words = new Set(
      JSON.stringify({ paths: document.paths, ...document.components.schemas, ...document.components.responses }).match(
        WORD,
      ),
    );
    expect([...(await codesInUse())].filter((code) => !words.has(code) && !ELSEWHERE.has(code))).toEqual([]);
  });

  it('says of every address that takes no body that it refuses what is none', () => {
    for (const { method, path, body, about } of endpoints) {
      if (body !== null || about.bytes !== undefined) continue;
      const { responses } = document.paths[documentPath(path)]?.[method.toLowerCase()] ?? {};
      expect(responses?.['400']?.description).toContain('INVALID_JSON');
    }
  });

  describe.each(operations)('$name', ({ path, operation }) => {
    it('says what it does, what it answers and how it refuses', () => {
      expect(operation.summary).toMatch(/^[A-Z][\w' ,-]+$/);
      expect(document.tags.map(({ name }) => name)).toEqual(expect.arrayContaining(operation.tags));
      const statuses = Object.keys(operation.responses);
      expect(statuses.filter((status) => status.startsWith('2'))).not.toEqual([]);
      expect(statuses).toEqual(expect.arrayContaining(['400', '431']));
      if (operation.security !== undefined)
        expect(statuses).toEqual(expect.arrayContaining(['401', '429', '500', '503']));
    });

    it('has all parts of its path as parameters', () => {
      const named = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name);
      expect(operation.parameters.filter((each) => each.in === 'path').map(({ name }) => name)).toEqual(named);
    });

    it('has examples that are what their schemas say', () => {
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

    it('has an example of every JSON body that is sent', () => {
      const body = operation.requestBody?.content['application/json'];
      if (body !== undefined) expect(body.example).toBeDefined();
    });
  });
});

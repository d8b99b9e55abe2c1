import { describe, expect, it } from '@jest/globals';
import { Readiness } from '@call-analysis/runtime';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { endpointsOf } from '../gateway.ts';
import type { Behind } from '../gateway.ts';
import { documentPath, openApiDocument } from './document.ts';
import { refusals } from './refusals.ts';

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
  components: { schemas: Record<string, object>; examples: Record<string, { value: object }> };
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

  describe.each(operations)('$name', ({ path, operation }) => {
    it('says what it does, what it answers and how it refuses', () => {
      expect(operation.summary).toMatch(/^[A-Z][\w' ,-]+$/);
      expect(document.tags.map(({ name }) => name)).toEqual(expect.arrayContaining(operation.tags));
      const statuses = Object.keys(operation.responses);
      expect(statuses.filter((status) => status.startsWith('2'))).not.toEqual([]);
      expect(statuses).toEqual(expect.arrayContaining(['400', '431']));
      if (operation.security !== undefined) expect(statuses).toEqual(expect.arrayContaining(['401', '429', '500', '503']));
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

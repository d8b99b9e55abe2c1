import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

export type JsonSchema = Readonly<Record<string, unknown>>;

type Direction = 'request' | 'response';

const names = new WeakMap<z.core.$ZodType, Record<Direction, string>>();

/**
 * Names a schema of another package as a component of the document. A schema of the gateway has its name as the `id` of
 * its meta. A schema whose two directions differ, by fields with defaults, needs a name for each.
 */
export function nameSchema(schema: z.core.$ZodType, response: string, request = response): void {
  names.set(schema, { response, request });
}

/** The meta of schemas, with the names that `nameSchema` has given. */
class Meta extends z.core.$ZodRegistry<Record<string, unknown>> {
  readonly #direction: Direction;

  constructor(direction: Direction) {
    super();
    this.#direction = direction;
  }

  override get<Schema extends z.core.$ZodType>(schema: Schema) {
    const meta = z.globalRegistry.get(schema);
    const id = names.get(schema)?.[this.#direction];
    return (id === undefined ? meta : { ...meta, id }) as ReturnType<
      z.core.$ZodRegistry<Record<string, unknown>>['get']
    >;
  }

  override has(schema: z.core.$ZodType): boolean {
    return names.has(schema) || z.globalRegistry.has(schema);
  }
}

/** Complete in itself, as a client sends it. */
export function inputSchema(schema: z.ZodType): JsonSchema {
  return toJsonSchema(schema, 'request', {
    get: (each) => ({ ...z.globalRegistry.get(each), id: undefined }),
    has: () => true,
  });
}

function toJsonSchema(
  schema: z.ZodType,
  direction: Direction,
  meta: Pick<z.core.$ZodRegistry<Record<string, unknown>>, 'get' | 'has'>,
): JsonSchema {
  return z.toJSONSchema(schema, {
    io: direction === 'request' ? 'input' : 'output',
    metadata: meta as z.core.$ZodRegistry<Record<string, unknown>>,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => simplify(jsonSchema),
  });
}

/**
 * Converts zod schemas to the JSON Schema of the document. A schema with a name becomes a component, which is referred to.
 * A schema with `documentedAs` in its meta, another schema or JSON Schema, is described by that: it is for schemas that
 * transform or refine what a client sends.
 */
export class Schemas {
  readonly components: Record<string, JsonSchema> = {};
  readonly #meta = { request: new Meta('request'), response: new Meta('response') };

  /** As a client sends it: before defaults and transformations. */
  request(schema: z.ZodType): JsonSchema {
    const { documentedAs } = z.globalRegistry.get(schema) ?? {};
    if (!(documentedAs instanceof z.ZodType)) return this.#convert(schema, 'request');
    const { description } = z.globalRegistry.get(schema) ?? {};
    return { ...this.#convert(documentedAs, 'request'), ...(description !== undefined && { description }) };
  }

  /** As a client receives it: with the named fields only. */
  response(schema: z.ZodType): JsonSchema {
    return this.#convert(schema, 'response');
  }

  #convert(schema: z.ZodType, direction: Direction): JsonSchema {
    const converted = toJsonSchema(schema, direction, this.#meta[direction]);
    const {
      $schema: _dialect,
      $defs = {},
      ...own
    } = JSON.parse(JSON.stringify(converted).replaceAll('"#/$defs/', '"#/components/schemas/')) as JsonSchema;
    for (const [name, component] of Object.entries($defs as Record<string, JsonSchema>)) this.#add(name, component);
    return own;
  }

  #add(name: string, { id: _id, ...component }: JsonSchema): void {
    const added = (this.components[name] ??= component);
    if (!isDeepStrictEqual(added, component)) throw new Error(`Two different schemas are called ${name}.`);
  }
}

/**
 * The pattern that zod writes for a time in UTC. It says no more than the format, and a client that a generator makes for Python
 * compares it with the time that it has already read.
 */
const UTC_PATTERN = z.toJSONSchema(z.iso.datetime()).pattern;

/** What a schema with `documentedAs` says itself. */
const SAID_BESIDE: ReadonlySet<string> = new Set(['default', 'description']);

/** Removes keywords that say nothing to a reader: bounds of safe integers, and patterns that repeat the format. */
function simplify(schema: Record<string, unknown>): void {
  const { documentedAs } = schema;
  if (documentedAs !== undefined) {
    for (const name of Object.keys(schema)) if (!SAID_BESIDE.has(name)) delete schema[name];
    Object.assign(schema, documentedAs);
  }
  if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum'];
  if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum'];
  // A name is always text. Generators do not know the keyword.
  delete schema['propertyNames'];
  if (schema['format'] === 'uuid') delete schema['pattern'];
  if (schema['pattern'] === UTC_PATTERN) delete schema['pattern'];
}

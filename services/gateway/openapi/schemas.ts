import { z } from 'zod';

export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Turns zod schemas into the JSON Schema of the document. A schema with an `id` becomes a component, once, and is referred
 * to; one with a `wire` in its meta is described by that, where what is sent is not what the schema's type says.
 */
export class Schemas {
  readonly components: Record<string, JsonSchema> = {};

  /** What a client sends: before defaults and transformations. */
  sent(schema: z.ZodType): JsonSchema {
    return this.#convert(schema, 'input');
  }

  /** What a client gets: nothing but the fields that are named. */
  answered(schema: z.ZodType): JsonSchema {
    return this.#convert(schema, 'output');
  }

  #convert(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    const made = z.toJSONSchema(schema, {
      io,
      unrepresentable: 'any',
      override: ({ jsonSchema }) => {
        const { wire } = jsonSchema;
        if (wire === undefined) return;
        for (const name of Object.keys(jsonSchema)) {
          if (name !== 'default') delete jsonSchema[name];
        }
        Object.assign(jsonSchema, wire);
      },
    });
    const {
      $schema: _dialect,
      $defs = {},
      ...own
    } = JSON.parse(JSON.stringify(made).replaceAll('"#/$defs/', '"#/components/schemas/')) as Record<string, unknown>;
    for (const [name, component] of Object.entries($defs as Record<string, Record<string, unknown>>)) {
      const { id: _name, ...rest } = component;
      this.components[name] = rest;
    }
    return own;
  }
}

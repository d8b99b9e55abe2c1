import type { z } from 'zod';
import { isSecretName } from '../log/log.ts';
import { type Environment, withSecretFiles } from './config.ts';

/** A variable as its schema describes it. */
export interface Variable {
  readonly name: string;
  readonly description: string;
  /** As it would be written in the environment; undefined when there is none. */
  readonly default: string | undefined;
  /** The process does not start without it. */
  readonly required: boolean;
  /** May come from a file that `NAME_FILE` names. */
  readonly secret: boolean;
}

interface VariableMeta {
  readonly description?: string;
  /** For a secret that `isSecretName` does not recognise. */
  readonly secret?: boolean;
  /** The default in words, when it depends on other variables or on the machine. */
  readonly defaultText?: string;
}

/** All variables of these shapes, each once, in their order. */
export function describeVariables(shapes: readonly z.ZodObject[]): Variable[] {
  const described = new Map<string, Variable>();
  for (const { shape } of shapes) {
    for (const [name, schema] of Object.entries(shape)) {
      if (!described.has(name)) described.set(name, describe(name, schema as z.ZodType));
    }
  }
  return [...described.values()];
}

/** The environment with the secrets of these shapes read from the files that `NAME_FILE` names. */
export function withSecrets(env: Environment, shapes: readonly z.ZodObject[]): Environment {
  const secrets = describeVariables(shapes).filter(({ secret }) => secret);
  return withSecretFiles(
    env,
    secrets.map(({ name }) => name),
  );
}

/** A shape with some of its optional variables required. */
export function requiring<Shape extends z.ZodObject>(
  shape: Shape,
  names: readonly (keyof Shape['shape'] & string)[],
): z.ZodObject {
  const fields = Object.entries(shape.shape).map(([name, schema]) => {
    const required = names.includes(name);
    return [name, required ? schema.meta({ ...schema.meta(), required }) : schema];
  });
  return shape.extend(Object.fromEntries(fields)) as z.ZodObject;
}

function describe(name: string, schema: z.ZodType): Variable {
  const meta = metaOf(schema);
  return {
    name,
    description: meta.description ?? '',
    default: meta.defaultText ?? defaultOf(schema),
    required: meta.required ?? !schema.safeParse(undefined).success,
    secret: meta.secret ?? isSecretName(name),
  };
}

/** Making a variable optional wraps its schema; the description stays inside. */
function metaOf(schema: z.ZodType): VariableMeta & { required?: boolean } {
  const { innerType } = schema.def as { innerType?: z.ZodType };
  return schema.meta() ?? (innerType === undefined ? {} : metaOf(innerType));
}

function defaultOf(schema: z.ZodType): string | undefined {
  const { type, defaultValue, in: before } = schema.def as { type: string; defaultValue?: unknown; in?: z.ZodType };
  if (before !== undefined) return defaultOf(before);
  if (type !== 'default' && type !== 'prefault') return undefined;
  if (typeof defaultValue === 'boolean') return defaultValue ? 'on' : 'off';
  if (Array.isArray(defaultValue)) return defaultValue.length === 0 ? undefined : defaultValue.join(',');
  return String(defaultValue);
}

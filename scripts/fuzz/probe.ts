import { type Random, randomOf } from '../../packages/testing/random.ts';

/** A schema of the OpenAPI document, as far as bodies are made from it. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema?: Schema;
}

export interface ApiDocument {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          { parameters?: readonly Parameter[]; requestBody?: { content?: Record<string, { schema?: Schema }> } }
        >
      >
    >
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** One who sends requests, by its name and the header that proves it. */
interface Prober {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The paths that take such a proof. Others refuse most of its requests. */
  readonly paths: RegExp;
}

export interface Figures {
  requests: number;
  operations: number;
  readonly statuses: Record<string, number>;
  /** Responses that show something of the other firm, and those with a status of 500. */
  readonly findings: { readonly request: string; readonly why: string }[];
}

interface ProbeOptions {
  readonly url: string;
  readonly document: ApiDocument;
  readonly probers: readonly Prober[];
  /** The other firm's ids, keys and words. The first two, and every third one, are put into no request. */
  readonly secrets: readonly string[];
  readonly requests: number;
  readonly seed: number;
  /** Ends the requests early. */
  readonly over: AbortSignal;
  say(line: string): void;
}

const AT_ONCE = 8;
const MOST_FINDINGS = 20;
const SAY_EVERY_MS = 10_000;
const DEEPEST = 4;

/**
 * Sends requests with the ids of another firm, to every operation of the document, in paths, queries and bodies. With
 * any status, a response may contain data of the other firm only if the request contained it.
 */
export async function probe(figures: Figures, options: ProbeOptions): Promise<void> {
  const { url, document, probers, secrets, requests, seed, over, say } = options;
  const { statuses, findings } = figures;
  const isTried = (_: string, index: number) => index % 3 > 0 && index > 1;
  const tried = secrets.filter(isTried);
  // No response may contain one of these.
  const hidden = secrets.filter((secret, index) => !isTried(secret, index));
  const random = randomOf(seed, 'probe');
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  figures.operations = operations.length;
  const written = new Set<string>();
  let [sent, saidAt] = [0, performance.now()];

  async function sendOne(): Promise<void> {
    const { path, method, operation } = random.pick(operations);
    const prober = random.integer(8) === 0 ? random.pick(probers) : probers.find(({ paths }) => paths.test(path))!;
    const query = new URLSearchParams();
    let filled = path;
    for (const parameter of operation.parameters ?? []) {
      const value = String(valueOf(parameter.schema ?? {}, random, 0) ?? random.pick(tried));
      if (parameter.in === 'path') filled = filled.replace(`{${parameter.name}}`, encodeURIComponent(value));
      else if (parameter.in === 'query' && random.integer(4) === 0) query.append(parameter.name, value);
    }
    // Parameters that the document does not declare for the operation.
    filled = filled.replaceAll(/\{[^}]+\}/g, () => encodeURIComponent(random.pick(tried)));
    const schema = operation.requestBody?.content?.['application/json']?.schema;
    const body = schema === undefined ? undefined : JSON.stringify(valueOf(schema, random, 0));
    // A prober may get its own rows with these words, such as a user of that name.
    if (body !== undefined) for (const secret of tried) if (body.includes(secret)) written.add(secret);
    const target = `${filled}${query.size === 0 ? '' : `?${query}`}`;
    const response = await fetch(url + target, {
      method: method.toUpperCase(),
      headers: { ...prober.headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body }),
      redirect: 'manual',
      signal: AbortSignal.timeout(60_000),
    });
    const said = `${[...response.headers.values()].join('\n')}\n${await response.text()}`;
    statuses[response.status] = (statuses[response.status] ?? 0) + 1;
    const asked = `${decodeURIComponent(target.replaceAll('+', ' '))} ${body ?? ''}`;
    const request = `${prober.name}: ${method.toUpperCase()} ${target} ${body ?? ''}`;
    const shown = [
      ...hidden.filter((secret) => said.includes(secret)),
      ...tried.filter((secret) => said.includes(secret) && !asked.includes(secret) && !written.has(secret)),
    ];
    if (shown.length > 0) findings.push({ request, why: `${response.status} shows ${shown.slice(0, 3).join(', ')}` });
    if (response.status === 500) findings.push({ request, why: `500 ${said.slice(-300)}` });
  }

  /** Of the schema's shape, with the other firm's ids and words in it. */
  function valueOf(schema: Schema, own: Random, depth: number): unknown {
    if (schema.$ref !== undefined)
      return valueOf(document.components.schemas[schema.$ref.split('/').at(-1)!]!, own, depth);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices !== undefined) return valueOf(own.pick(choices), own, depth);
    if (schema.allOf !== undefined) {
      return Object.assign({}, ...schema.allOf.map((each) => valueOf(each, own, depth) as object));
    }
    if (schema.enum !== undefined) return own.pick(schema.enum);
    const type = typeof schema.type === 'object' ? own.pick(schema.type) : schema.type;
    if (type === 'object' || schema.properties !== undefined) {
      const entries = depth >= DEEPEST ? [] : Object.entries(schema.properties ?? {});
      const kept = entries.filter(() => own.integer(5) > 0);
      return Object.fromEntries(kept.map(([name, each]) => [name, valueOf(each, own, depth + 1)]));
    }
    if (type === 'array') return depth >= DEEPEST ? [] : [valueOf(schema.items ?? {}, own, depth + 1)];
    if (type === 'integer' || type === 'number') return own.pick([0, 1, 2, 20, 100]);
    if (type === 'boolean') return own.integer(2) === 0;
    if (type === 'null') return null;
    return own.pick(tried);
  }

  async function keepSending(): Promise<void> {
    while (sent < requests && findings.length < MOST_FINDINGS) {
      if (over.aborted) return;
      sent += 1;
      await sendOne();
      if (performance.now() - saidAt > SAY_EVERY_MS) {
        saidAt = performance.now();
        say(`${sent} of ${requests} requests, ${findings.length} findings`);
      }
    }
  }

  await Promise.all(Array.from({ length: AT_ONCE }, keepSending));
  figures.requests += sent;
}

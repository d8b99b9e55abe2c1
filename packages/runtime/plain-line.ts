import type { Context } from './context.ts';
import { isSecretName } from './redaction.ts';

/** Neither what JSON escapes nor what redaction looks for: that has a space, `=`, `@` or `$` in it. */
const PLAIN = /^[\w./:*+-]*$/;

/**
 * The end of a line that has nothing but plain strings, numbers and truths in it, as those of requests have:
 * `,"status":200,"msg":"request"}`. Undefined when there is anything else in it. Written so it takes a sixth of the time
 * (0.45 µs of 2.6) and reads the same.
 */
export function plainLine(context: Context | undefined, fields: object, message: string): string | undefined {
  let line = '';
  if (context !== undefined) {
    if (!PLAIN.test(context.requestId) || !PLAIN.test(context.traceparent)) return undefined;
    // What the fields say themselves takes the place of what the context says.
    if (!('request_id' in fields)) line += `,"request_id":"${context.requestId}"`;
    if (!('traceparent' in fields)) line += `,"traceparent":"${context.traceparent}"`;
  }
  for (const name of Object.keys(fields)) {
    const value: unknown = Reflect.get(fields, name);
    const beginning = beginningOf(name);
    if (beginning === undefined) return undefined;
    if (value === undefined) continue;
    if (typeof value === 'string' && PLAIN.test(value)) line += `${beginning}"${value}"`;
    else if (typeof value === 'boolean' || Number.isFinite(value)) line += `${beginning}${String(value)}`;
    else return undefined;
  }
  return PLAIN.test(message) ? `${line},"msg":"${message}"}\n` : undefined;
}

/** Names of fields stand in the source code, the same few for every line. */
const beginnings = new Map<string, string>();
const MAX_BEGINNINGS = 1000;

/** `,"name":`, unless the name is a secret's. */
function beginningOf(name: string): string | undefined {
  const known = beginnings.get(name);
  if (known !== undefined) return known;
  if (isSecretName(name) || !PLAIN.test(name)) return undefined;
  const beginning = `,"${name}":`;
  if (beginnings.size < MAX_BEGINNINGS) beginnings.set(name, beginning);
  return beginning;
}

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';

interface Sql {
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/**
 * The tables, of all that may be read, with a row in which one of the words stands, whatever it is wrapped in: JSON, or
 * raw deflate as bytes or in base64. Each as `schema.table: word`.
 */
export async function tracesInTables(sql: Sql, words: readonly string[]): Promise<string[]> {
  const tables = await sql.query<{ name: string }>(
    `SELECT format('%I.%I', nspname, relname) AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE relkind = 'r' AND nspname NOT IN ('pg_catalog', 'information_schema') AND nspname NOT LIKE 'pg_temp%'
       AND has_schema_privilege(nspname, 'USAGE') AND has_table_privilege(pg_class.oid, 'SELECT')
     ORDER BY 1`,
  );
  const traces: string[] = [];
  for (const { name } of tables) {
    const rows = await sql.query<Record<string, unknown>>(`SELECT * FROM ${name}`);
    const text = rows.map((row) => Object.values(row).map(unwrapped).join('\n')).join('\n');
    traces.push(...words.filter((word) => text.includes(word)).map((word) => `${name}: ${word}`));
  }
  return traces;
}

/** The files below a directory in whose name or bytes one of the words stands, each as `path: word`. */
export async function tracesInFiles(directory: string, words: readonly string[]): Promise<string[]> {
  const traces: string[] = [];
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const bytes = entry.isFile() ? await readFile(path).catch(() => Buffer.alloc(0)) : Buffer.alloc(0);
    traces.push(
      ...words.filter((word) => path.includes(word) || bytes.includes(word)).map((word) => `${path}: ${word}`),
    );
  }
  return traces;
}

function unwrapped(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Buffer.isBuffer(value)) return `${value.toString('utf8')}\n${inflated(value)}`;
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'object')
    return Object.entries(value)
      .flatMap(([key, each]) => [key, unwrapped(each)])
      .join('\n');
  const text = String(value);
  return text.length > 100 && /^[\w+/]+=*$/.test(text) ? `${text}\n${inflated(Buffer.from(text, 'base64'))}` : text;
}

function inflated(bytes: Buffer): string {
  try {
    return inflateRawSync(bytes).toString('utf8');
  } catch {
    return '';
  }
}

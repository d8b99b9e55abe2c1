import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Whether the hand-written migrations create the tables and columns of each Prisma schema. Prisma's own comparison needs an
 * engine that must be downloaded; this compares both as text.
 */
export function checkMigrations(): string[] {
  return globSync('services/*/prisma/schema.prisma').flatMap((schema) => {
    const described = tablesOfSchema(readFileSync(schema, 'utf8'));
    const made = tablesOfMigrations(join(dirname(schema), 'migrations'));
    const names = new Set([...described.keys(), ...made.keys()]);
    return [...names].flatMap((table) => {
      const missing = [...(described.get(table) ?? [])].filter((column) => !made.get(table)?.has(column));
      const extra = [...(made.get(table) ?? [])].filter((column) => !described.get(table)?.has(column));
      return [
        ...missing.map((column) => `${schema} has ${table}.${column}, which no migration makes`),
        ...extra.map((column) => `the migrations make ${table}.${column}, which ${schema} does not have`),
      ];
    });
  });
}

function tablesOfSchema(text: string): Map<string, Set<string>> {
  const models = [...text.matchAll(/^model (\w+) \{\n([\s\S]*?)^\}/gm)];
  const modelNames = new Set(models.map((match) => match[1]!));
  return new Map(
    models.map(([, name, body]) => {
      const columns = new Set<string>();
      for (const line of body!.split('\n')) {
        const field = /^\s+(\w+)\s+(\w+)(\[\])?\??/.exec(line);
        if (field === null || modelNames.has(field[2]!)) continue;
        columns.add(/@map\("([^"]+)"\)/.exec(line)?.[1] ?? field[1]!);
      }
      return [/@@map\("([^"]+)"\)/.exec(body!)?.[1] ?? name!, columns];
    }),
  );
}

const STATEMENT =
  /CREATE TABLE "(?<created>\w+)" \(\n(?<body>[\s\S]*?)^\)|DROP TABLE "(?<dropped>\w+)"|ALTER TABLE "(?<altered>\w+)" (?:ADD COLUMN "(?<added>\w+)"|DROP COLUMN "(?<removed>\w+)")/gm;

function tablesOfMigrations(folder: string): Map<string, Set<string>> {
  const tables = new Map<string, Set<string>>();
  for (const file of globSync(`${folder}/*/migration.sql`).sort()) {
    const text = readFileSync(file, 'utf8');
    for (const { groups } of text.matchAll(STATEMENT)) {
      const { created, body, dropped, altered, added, removed } = groups!;
      if (created !== undefined)
        tables.set(created, new Set([...body!.matchAll(/^\s+"(\w+)" /gm)].map((match) => match[1]!)));
      if (dropped !== undefined) tables.delete(dropped);
      if (added !== undefined) tables.get(altered!)?.add(added);
      if (removed !== undefined) tables.get(altered!)?.delete(removed);
    }
  }
  return tables;
}

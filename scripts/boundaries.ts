import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';

/** The most files of one folder, without tests. */
const MOST = 16;

/** Without what is installed or generated; with `/` on every system. */
function filesIn(...patterns: string[]): string[] {
  const files = globSync(patterns, { exclude: (path) => /node_modules|generated/.test(String(path)) });
  return files.map((file) => file.split(sep).join('/'));
}

/** The folders with too many files. */
export function checkFolders(): string[] {
  const files = filesIn(
    'packages/**/*.{ts,tsx}',
    'services/**/*.ts',
    'deploy/**/*.ts',
    'bench/**/*.ts',
    'scripts/**/*.ts',
  );
  const folders = Map.groupBy(
    files.filter((file) => !file.endsWith('.test.ts')),
    (file) => dirname(file),
  );
  return [...folders]
    .filter(([, { length }]) => length > MOST)
    .map(([folder, { length }]) => `${folder} has ${length} files; the limit is ${MOST}. Group them in subfolders.`);
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** Peers of other dependencies, which nothing here imports. */
const PEERS = new Set(['@opentelemetry/api', 'typescript']);

/** The dependencies of packages that none of their files names. */
export function checkDependencies(): string[] {
  const manifests = filesIn('{packages,services,deploy}/*/package.json', '{bench,proto}/package.json');
  return manifests.flatMap((manifest) => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(manifest, 'utf8')) as Manifest;
    const sources = globSync(`${dirname(manifest)}/**/*.{ts,tsx}`, {
      exclude: (path) => /node_modules/.test(String(path)),
    }).map((file) => readFileSync(file, 'utf8'));
    return Object.keys({ ...dependencies, ...devDependencies })
      .filter((name) => !name.startsWith('@types/') && !PEERS.has(name))
      .filter((name) => !sources.some((text) => ["'", '"', '`'].some((quote) => text.includes(quote + name))))
      .map((name) => `${manifest}: nothing imports ${name}`);
  });
}

/** A forbidden import. `from` and `to` are tested against paths from the root, with `/`. */
interface Rule {
  readonly from: RegExp;
  readonly to: RegExp;
  readonly except?: RegExp;
  readonly why: string;
}

const rules: readonly Rule[] = [
  {
    from: /^services\/([^/]+)\//,
    to: /^services\/(?!SELF\/)/,
    why: 'no service imports a service; they share only proto and events',
  },
  { from: /^(packages|proto)\//, to: /^(services|deploy|bench)\//, why: 'no package imports a service' },
  { from: /^(services|packages|proto)\//, to: /^deploy\//, why: 'only deploy knows how services are put together' },
  {
    from: /^(services|packages|proto|deploy)\/(?!soak\/|.*(\.test|-under-test)\.ts$|.*\/test\/)/,
    to: /^packages\/testing\//,
    except: /^packages\/(testing\/|[^/]+\/contract(\.ts$|\/))/,
    why: 'packages/testing is for tests',
  },
  {
    from: /^services\/[^/]+\/(?!main\.ts$|start\.ts$|grpc\.ts$|consumers\.ts$|routes\/|.*(\.test|-under-test)\.ts$|test\/)/,
    to: /^services\/[^/]+\/(start|grpc|consumers)\.ts$|^services\/[^/]+\/routes\//,
    // The list of all routes of the gateway.
    except: /^services\/gateway\/gateway\.ts$/,
    why: 'imports point one way: start, then routes, grpc and consumers, then use cases',
  },
  {
    from: /^services\/[^/]+\/domain\.ts$/,
    to: /^services\/[^/]+\/(store|generated)/,
    why: 'domain rules do not depend on tables',
  },
];

/** Only these may read the environment of the process; account.ts passes some of it to PostgreSQL's programs. */
const readsEnvironment =
  /^(deploy\/standalone\/(admin\/|demo\/)?main\.ts|deploy\/(models|prepare-kafka|prepare-store|soak)\/main\.ts|services\/[^/]+\/(tools\/[^/]+\/)?main\.ts|packages\/testing\/|packages\/postgres\/server\/account\.ts$|scripts\/|bench\/)|\.test\.ts$|\/test\//;

/** The bus's tables, and the only product file with SQL on them. */
const stores = [
  { table: /schema\}\.(job|job_common|queue|subscription)\b/, file: 'packages/bus/queue/queue-store.ts' },
  { table: /schema\}\.outbox\b/, file: 'packages/bus/kafka/outbox/outbox-store.ts' },
];
/** Files of a service that may contain SQL: `store.ts`, `*-store.ts`, and everything in a folder `store/` or `search/`. */
const isStore = /(^|\/|-)store\.ts$|\/(store|search)\//;
const isTest = /\.test\.ts$|-under-test\.ts$|\/test\//;
/** A query with its text in place: `db.query('…`, `` tx.query<Row>(` ``. */
const sqlText = /\.(?:query|prepared)(?:<[^()]*>)?\(\s*['"`]/;

/** Whether a file of a service sends SQL that belongs in a store. */
function hasStraySql(file: string, text: string): boolean {
  if (!file.startsWith('services/') || isStore.test(file) || isTest.test(file)) return false;
  return sqlText.test(withoutComments(text));
}

export function checkBoundaries(): string[] {
  const files = filesIn('packages/**/*.ts', 'services/**/*.ts', 'deploy/**/*.ts', 'bench/**/*.ts', 'proto/*.ts');
  const packages = packageFolders();
  return files.flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    const faults = importsOf(text).flatMap((specifier) => {
      const target = resolveImport(file, specifier, packages);
      return target === null ? [] : broken(file, target);
    });
    if (/\bprocess\.env\b/.test(withoutComments(text)) && !readsEnvironment.test(file))
      faults.push(`${file}: only main.ts reads process.env`);
    for (const { table, file: store } of stores)
      if (table.test(text) && file !== store && !/\.test\.ts$|\/test\//.test(file))
        faults.push(`${file}: only ${store} has SQL on these tables`);
    if (hasStraySql(file, text))
      faults.push(`${file}: only a store contains SQL (store.ts, *-store.ts, store/, search/)`);
    return faults;
  });
}

/**
 * The circles of imports, types included, between the folders of each package, and files next to these folders. Tests
 * may import what they test.
 */
export function checkCircles(): string[] {
  return filesIn('packages/*', 'services/*').flatMap((root) =>
    circlesIn(root).map((names) => `${root}: a circle of imports between ${names.join(', ')}`),
  );
}

function circlesIn(root: string): string[][] {
  const imports = new Map<string, Set<string>>();
  const nodeOf = (file: string) => file.slice(root.length + 1).split('/')[0]!;
  for (const file of filesIn(`${root}/**/*.{ts,tsx}`)) {
    if (isTest.test(file) || /\/(contract|tools)(\/|\.)/.test(file)) continue;
    const targets = importsOf(readFileSync(file, 'utf8'))
      .map((specifier) => resolveImport(file, specifier, new Map()))
      .filter((target) => target?.startsWith(`${root}/`))
      .map((target) => nodeOf(target!));
    const known = imports.get(nodeOf(file)) ?? new Set();
    imports.set(nodeOf(file), known.union(new Set(targets)));
  }
  const reached = new Map([...imports.keys()].map((node) => [node, reachedFrom(node, imports)]));
  const circles = [...reached].map(([node, targets]) =>
    [...targets].filter((target) => reached.get(target)?.has(node)),
  );
  return [
    ...new Map(circles.filter(({ length }) => length > 1).map((names) => [names.toSorted().join(), names])).values(),
  ];
}

/** What a folder imports, directly or through others. Itself is included if it is part of a circle. */
function reachedFrom(node: string, imports: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const reached = new Set<string>();
  const next = [node];
  for (let from = next.pop(); from !== undefined; from = next.pop())
    for (const to of imports.get(from) ?? []) {
      if (to === from || reached.has(to)) continue;
      reached.add(to);
      next.push(to);
    }
  return reached;
}

function broken(file: string, target: string): string[] {
  return rules.flatMap(({ from, to, except, why }) => {
    const match = from.exec(file);
    if (match === null || except?.test(file)) return [];
    const own = new RegExp(to.source.replaceAll('SELF', match[1] ?? ''));
    return own.test(target) ? [`${file} imports ${target}: ${why}`] : [];
  });
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');
}

function importsOf(text: string): string[] {
  const found = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\b[^'"`;]*?from\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]|(?:^|\n)import\s*['"]([^'"]+)['"]/g,
  );
  return [...found].map((match) => match[1] ?? match[2] ?? match[3]!);
}

function resolveImport(file: string, specifier: string, packages: ReadonlyMap<string, string>): string | null {
  if (specifier.startsWith('.'))
    return normalize(join(dirname(file), specifier))
      .split(sep)
      .join('/');
  const [scope, name] = specifier.split('/');
  const folder = packages.get(`${scope}/${name}`);
  return folder === undefined ? null : `${folder}/${specifier.split('/').slice(2).join('/') || 'index.ts'}`;
}

function packageFolders(): Map<string, string> {
  const manifests = filesIn('{packages,services,deploy}/*/package.json', 'proto/package.json');
  return new Map(
    manifests.map((file) => [(JSON.parse(readFileSync(file, 'utf8')) as { name: string }).name, dirname(file)]),
  );
}

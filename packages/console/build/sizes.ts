import { gzipSync } from 'node:zlib';

/** Vite's manifest entry of a chunk: https://vite.dev/guide/backend-integration. */
export type Manifest = Readonly<Record<string, Chunk>>;
interface Chunk {
  readonly file: string;
  readonly isDynamicEntry?: boolean;
  readonly imports?: readonly string[];
}

/** Gzipped kilobytes (1000 bytes) of JavaScript. */
const FIRST_PAINT_KB = 138;
const ALL_KB = 290;
/** What begins, and what it imports with the page that people open first. */
const FIRST = ['_begin', 'app/app.tsx'];

/** The sizes of the JavaScript, and which of them break a budget. */
export function sizes(
  manifest: Manifest,
  read: (file: string) => Uint8Array,
): { lines: readonly string[]; faults: string[] } {
  const kilobytes = (files: Iterable<string>) =>
    [...files].reduce((sum, file) => sum + gzipSync(read(file), { level: 9 }).length, 0) / 1000;
  const chunks = Object.entries(manifest).filter(([, { file }]) => file.endsWith('.js'));
  const roots = FIRST.map((name) => chunks.find(([key]) => key.startsWith(name)));
  const first = new Set(roots.flatMap((root) => [...filesOf(manifest, root?.[0] ?? '')]));
  if (roots.includes(undefined)) throw new Error(`The build does not have ${FIRST.join(' and ')}.`);
  const budgets = [
    { name: 'first paint of the calls page', size: kilobytes(first), budget: FIRST_PAINT_KB },
    { name: 'all', size: kilobytes(new Set(chunks.map(([, { file }]) => file))), budget: ALL_KB },
  ];
  return {
    lines: budgets.map(
      ({ name, size, budget }) =>
        `JavaScript of the console, ${name}: ${size.toFixed(1)} kB gzipped (at most ${budget} kB)`,
    ),
    faults: budgets
      .filter(({ size, budget }) => size > budget)
      .map(
        ({ name }) => `Too much JavaScript for ${name}. Load parts when they are needed, or leave a dependency out.`,
      ),
  };
}

/** A chunk's file and those that it imports before it runs. */
function filesOf(manifest: Manifest, key: string, seen = new Set<string>()): Set<string> {
  const chunk = manifest[key];
  if (chunk === undefined || seen.has(chunk.file)) return seen;
  seen.add(chunk.file);
  for (const each of chunk.imports ?? []) filesOf(manifest, each, seen);
  return seen;
}

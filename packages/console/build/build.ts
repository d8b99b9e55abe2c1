// Builds the console into generated/site: the page, its assets with hashed names, and each compressed with Brotli and gzip.
// Refuses a console that is larger than its budgets, and prints the sizes.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build, type Manifest } from 'vite';

/** Gzipped kilobytes (1000 bytes) of JavaScript. */
const FIRST_PAINT_KB = 138;
const ALL_KB = 290;
/** What begins, and what it imports with the page that people open first. */
const FIRST = ['_begin', 'app/app.tsx'];

const root = fileURLToPath(new URL('..', import.meta.url));
const site = join(root, 'generated/site');
/** Written first and renamed when it is complete, so that a stopped build leaves no half a site. */
const fresh = join(root, 'generated/site.new');

const COMPRESSED = /\.(?:js|css|json|svg)$/;

await build({ root, configFile: join(root, 'vite.config.ts'), logLevel: 'warn', build: { outDir: fresh } });
const manifestFile = join(fresh, '.vite/manifest.json');
const manifest = JSON.parse(readFileSync(manifestFile, 'utf8')) as Manifest;
const faults = report(manifest);
rmSync(join(fresh, '.vite'), { recursive: true });

for (const name of readdirSync(join(fresh, 'assets'))) {
  if (!COMPRESSED.test(name)) continue;
  const file = join(fresh, 'assets', name);
  const bytes = readFileSync(file);
  const quality = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: quality }));
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
}
mkdirSync(join(root, 'generated'), { recursive: true });
rmSync(site, { recursive: true, force: true });
renameSync(fresh, site);
if (faults.length > 0) {
  for (const fault of faults) console.error(fault);
  process.exitCode = 1;
}

/** Says the sizes of the JavaScript, and returns which of them break a budget. */
function report(manifest: Manifest): string[] {
  const kilobytes = (files: Iterable<string>) =>
    [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(fresh, file)), { level: 9 }).length, 0) / 1000;
  const chunks = Object.entries(manifest).filter(([, { file }]) => file.endsWith('.js'));
  const needed = new Set(FIRST.flatMap((name) => chunks.find(([key]) => key.startsWith(name))?.[0] ?? []));
  if (needed.size < FIRST.length) throw new Error(`The build does not have ${FIRST.join(' and ')}.`);
  // What is added meanwhile is gone through as well.
  for (const key of needed) for (const each of manifest[key]?.imports ?? []) needed.add(each);
  const first = new Set([...needed].map((key) => manifest[key]!.file));
  const budgets = [
    { name: 'first paint of the calls page', size: kilobytes(first), budget: FIRST_PAINT_KB },
    { name: 'all', size: kilobytes(new Set(chunks.map(([, { file }]) => file))), budget: ALL_KB },
  ];
  for (const { name, size, budget } of budgets)
    console.error(`JavaScript of the console, ${name}: ${size.toFixed(1)} kB gzipped (at most ${budget} kB)`);
  return budgets
    .filter(({ size, budget }) => size > budget)
    .map(({ name }) => `Too much JavaScript for ${name}. Load parts when they are needed, or leave a dependency out.`);
}

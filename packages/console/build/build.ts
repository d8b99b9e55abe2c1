// Builds the console into generated/site: the page, its assets with hashed names, and each compressed with Brotli and gzip.
// Refuses a console that is larger than its budgets, and prints the sizes.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';
import { type Manifest, sizes } from './sizes.ts';

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

function report(built: Manifest): string[] {
  const { lines, faults } = sizes(built, (file) => readFileSync(join(fresh, file)));
  for (const line of lines) console.error(line);
  return faults;
}

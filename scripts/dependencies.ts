import { globSync, readFileSync } from 'node:fs';
import { dirname, sep } from 'node:path';

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** Peers of other dependencies, which nothing here imports. */
const PEERS = new Set(['@opentelemetry/api', 'typescript']);

/** The dependencies of packages that none of their files names. */
export function checkDependencies(): string[] {
  const manifests = globSync('{packages,services,deploy}/*/package.json').concat(
    'bench/package.json',
    'proto/package.json',
  );
  return manifests.flatMap((manifest) => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(manifest, 'utf8')) as Manifest;
    const sources = globSync(`${dirname(manifest).split(sep).join('/')}/**/*.{ts,tsx}`, {
      exclude: (path) => /node_modules/.test(String(path)),
    }).map((file) => readFileSync(file, 'utf8'));
    return Object.keys({ ...dependencies, ...devDependencies })
      .filter((name) => !name.startsWith('@types/') && !PEERS.has(name))
      .filter((name) => !sources.some((text) => ["'", '"', '`'].some((quote) => text.includes(quote + name))))
      .map((name) => `${manifest}: nothing imports ${name}`);
  });
}

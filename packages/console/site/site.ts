import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type Encoding = 'identity' | 'gzip' | 'br';

export interface Asset {
  readonly type: string;
  /** The bytes as they are, and compressed where that makes them smaller. */
  readonly bytes: Readonly<Partial<Record<Encoding, Buffer>>> & { readonly identity: Buffer };
}

/** The console as it was built. */
export interface Site {
  /** The page, for the path that the console is served under (`/console/`) and a nonce for its style elements. */
  page(base: string, nonce: string): string;
  /** By name. A name contains a hash of the content, so that it may be cached for ever. */
  readonly assets: ReadonlyMap<string, Asset>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
};
const BASE = /<base href="\/console\/"\s*\/?>/;
const COMPRESSED = { '.br': 'br', '.gz': 'gzip' } as const;

/** Reads the console into memory. Null when it was not built. */
export async function openSite(
  directory = fileURLToPath(new URL('../generated/site', import.meta.url)),
): Promise<Site | null> {
  let html: string;
  let names: string[];
  try {
    html = await readFile(join(directory, 'index.html'), 'utf8');
    names = await readdir(join(directory, 'assets'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  if (!BASE.test(html)) throw new Error('The page of the console has no base.');
  const assets = new Map<string, Asset>();
  for (const name of names.filter((each) => !(extname(each) in COMPRESSED))) {
    const type = TYPES[extname(name)];
    if (type === undefined) throw new Error(`The console has an asset of an unknown type: ${name}.`);
    const identity = await readFile(join(directory, 'assets', name));
    const bytes: Partial<Record<Encoding, Buffer>> = {};
    for (const [suffix, encoding] of Object.entries(COMPRESSED)) {
      if (!names.includes(name + suffix)) continue;
      const compressed = await readFile(join(directory, 'assets', name + suffix));
      if (compressed.length < identity.length) bytes[encoding] = compressed;
    }
    assets.set(name, { type, bytes: { ...bytes, identity } });
  }
  return {
    assets,
    page: (base, nonce) => html.replace(BASE, `<base href="${base}">\n    <meta name="style-nonce" nonce="${nonce}">`),
  };
}

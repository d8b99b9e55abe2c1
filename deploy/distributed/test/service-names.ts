// Loaded into processes of a test in place of a cluster's DNS: names are looked up in the file TEST_NAMES first.
import { promises as dns } from 'node:dns';
import { readFileSync } from 'node:fs';

const lookup = dns.lookup.bind(dns);

async function lookUp(name: string, options?: unknown): Promise<unknown> {
  const addresses = (JSON.parse(readFileSync(process.env['TEST_NAMES']!, 'utf8')) as Record<string, readonly string[]>)[
    name
  ];
  if (addresses === undefined) return lookup(name, options as never);
  if (addresses.length === 0) throw Object.assign(new Error(`queryA ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
  const found = addresses.map((address) => ({ address, family: 4 }));
  return Object(options).all === true ? found : found[0];
}

Object.assign(dns, { lookup: lookUp });

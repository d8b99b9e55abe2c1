// Loaded into processes of a test. Names that end in `.link` resolve to 127.0.0.1. While the file LOST_NAMES lists a name, it
// cannot be resolved, as in a cluster whose DNS does not answer.
import dns from 'node:dns';
import { readFileSync } from 'node:fs';

type Found = { readonly address: string; readonly family: 4 };

/** Undefined for other names. */
function look(name: string): Found | Error | undefined {
  if (!name.endsWith('.link')) return undefined;
  const lost = (JSON.parse(readFileSync(process.env['LOST_NAMES']!, 'utf8')) as readonly string[]).includes(name);
  if (!lost) return { address: '127.0.0.1', family: 4 };
  return Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), {
    code: 'ENOTFOUND',
    syscall: 'getaddrinfo',
    hostname: name,
  });
}

const wantsAll = (options: unknown) => Object(options).all === true;

const promised = dns.promises.lookup.bind(dns.promises);
const called = dns.lookup.bind(dns);

Object.assign(dns.promises, {
  async lookup(name: string, options?: unknown): Promise<unknown> {
    const found = look(name);
    if (found === undefined) return promised(name, options as never);
    if (found instanceof Error) throw found;
    return wantsAll(options) ? [found] : found;
  },
});

Object.assign(dns, {
  lookup(name: string, ...rest: unknown[]): void {
    const found = look(name);
    if (found === undefined) return called(name, ...(rest as [never]));
    const done = rest.at(-1) as (error: Error | null, address?: unknown, family?: number) => void;
    process.nextTick(() => {
      if (found instanceof Error) done(found);
      else if (wantsAll(rest[0])) done(null, [found]);
      else done(null, found.address, found.family);
    });
  },
});

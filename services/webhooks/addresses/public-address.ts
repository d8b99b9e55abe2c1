import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Fault, invalidFields } from '@call-analysis/fault';
import ipaddr from 'ipaddr.js';

/** Public addresses at which a cloud answers only its own machines. */
const METADATA = new Set(['168.63.129.16']);

/** IPv6 prefixes that carry an IPv4 address or are routed nowhere, which the library takes for ordinary addresses. */
const SPECIAL = ['::/96', '64:ff9b::/32', '64:ff9b:1::/48', 'fec0::/10', '5f00::/16', '3fff::/20'].map((range) =>
  ipaddr.IPv6.parseCIDR(range),
);

/**
 * Whether an address belongs to the public internet. False for loopback, private, link-local, shared, multicast and
 * reserved ranges, for cloud metadata, and for IPv6 addresses that contain an IPv4 address of such a range.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // A scope (`fe80::1%eth0`) names an interface of this machine.
  if (address.includes('%')) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast' || METADATA.has(parsed.toString())) return false;
  return !(parsed instanceof ipaddr.IPv6) || !SPECIAL.some((range) => parsed.match(range));
}

/** Resolves a name to all its addresses; `dns.lookup` of the system, or a test's. */
export type Resolve = (
  hostname: string,
  done: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
) => void;

export const resolveBySystem: Resolve = (hostname, done) => {
  systemLookup(hostname, { all: true, verbatim: true }, done);
};

/** Thrown when a name or an address leads somewhere that is not public. */
export class AddressNotAllowed extends Error {
  override readonly name = 'AddressNotAllowed';
}

export function notAllowed(host: string): AddressNotAllowed {
  return new AddressNotAllowed(`${host} is not an address on the public internet`);
}

/**
 * A lookup for `net.connect`. The socket connects to the addresses that were judged, so a name whose answer changes
 * between two look-ups gains nothing. A name is refused when any of its addresses is not public.
 */
export function guardedLookup(resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, (error, addresses) => {
      if (error !== null) return callback(error, []);
      if (addresses.length === 0 || !addresses.every(({ address }) => isPublicAddress(address))) {
        return callback(notAllowed(hostname), []);
      }
      if (options.all === true) return callback(null, [...addresses]);
      const [first] = addresses;
      return callback(null, first!.address, first!.family);
    });
  };
}

const MAX_LENGTH = 2048;

export interface UrlRules {
  readonly allowPrivate: boolean;
  readonly resolve: Resolve;
}

/**
 * Checks the URL of an endpoint and returns it in its normal form, in which hosts such as 0x7f.1 are dotted addresses.
 * Fault URL_NOT_ALLOWED for http and for addresses that are not public. A name that cannot be resolved now is accepted:
 * every attempt to deliver judges the address again.
 */
export async function checkUrl(given: string, { allowPrivate, resolve }: UrlRules): Promise<string> {
  const url = parse(given);
  if (allowPrivate) return url.href;
  if (url.protocol !== 'https:') throw refused('A webhook needs a URL that begins with https://.');
  const host = hostOf(url);
  const addresses = isIP(host) === 0 ? await addressesOf(host, resolve) : [host];
  if (addresses.every(isPublicAddress)) return url.href;
  throw refused(`${host} is not an address on the public internet. Use one that is reachable from outside.`);
}

/** The host of a URL; an IPv6 address without its brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

function parse(given: string): URL {
  const fault = (message: string) => invalidFields([{ field: 'url', code: 'INVALID', message }]);
  if (given.length > MAX_LENGTH) throw fault(`must have at most ${MAX_LENGTH} characters`);
  if (!URL.canParse(given)) throw fault('must be a URL such as https://example.com/hooks');
  const url = new URL(given);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw fault('must begin with https://');
  if (url.username !== '' || url.password !== '') {
    throw fault('must not contain a user or password; deliveries are signed instead');
  }
  if (url.hash !== '') throw fault('must not contain a fragment');
  return url;
}

async function addressesOf(host: string, resolve: Resolve): Promise<string[]> {
  const found = await new Promise<readonly LookupAddress[]>((done) => {
    resolve(host, (error, addresses) => done(error === null ? addresses : []));
  });
  return found.map(({ address }) => address);
}

function refused(message: string): Fault {
  return new Fault('invalid', 'URL_NOT_ALLOWED', message, {
    details: { fields: [{ field: 'url', code: 'URL_NOT_ALLOWED', message }] },
  });
}

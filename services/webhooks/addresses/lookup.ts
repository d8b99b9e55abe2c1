import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
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

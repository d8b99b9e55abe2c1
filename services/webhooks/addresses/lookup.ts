import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from './public-address.ts';

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

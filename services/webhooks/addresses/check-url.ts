import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { Fault, invalidFields } from '@call-analysis/fault';
import { isPublicAddress, type Resolve } from './lookup.ts';

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

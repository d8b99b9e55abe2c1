import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import proxyAddr from 'proxy-addr';

/** Where a request comes from, as an address without a zone; IPv4 as such, on a socket for both too. */
export type AddressOf = (request: IncomingMessage) => string;

/**
 * The socket's other end, or what stands behind it by the word of these proxies: addresses, networks (`10.0.0.0/8`) or
 * `loopback`, `linklocal`, `uniquelocal`.
 */
export function addressOf(trustedProxies: readonly string[]): AddressOf {
  if (trustedProxies.length === 0) return (request) => plain(request.socket.remoteAddress ?? '');
  const trusts = proxyAddr.compile([...trustedProxies]);
  const trust = (told: string, hops: number): boolean => trusts(withoutPort(told), hops);
  return (request) => plain(withoutPort(proxyAddr(request, trust) ?? ''));
}

/** IPv6 hands out networks of 64 bits: whoever has one address has all of its network, and is counted as one. */
export function networkOf(address: string): string {
  if (!address.includes(':') || !isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`;
}

/** Some proxies tell the port too, `192.0.2.1:4711` or `[2001:db8::1]:4711`: another one for each connection. */
function withoutPort(told: string): string {
  return /^\[([^\]]+)\](?::\d+)?$/.exec(told)?.[1] ?? /^([\d.]+):\d+$/.exec(told)?.[1] ?? told;
}

function plain(address: string): string {
  if (address.startsWith('::ffff:')) return address.slice(7);
  const zone = address.indexOf('%');
  return zone === -1 ? address : address.slice(0, zone);
}

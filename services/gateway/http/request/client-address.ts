import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import proxyAddr from 'proxy-addr';

/** What a proxy reports need not be an address. The audit log and events take no more. */
const MAX_LENGTH = 128;

/** The client's address without a zone. An IPv4 address is in IPv4 form even on a socket that accepts both. */
type ClientAddress = (request: IncomingMessage) => string;

/**
 * The address at the other end of the socket or, behind trusted proxies, the one that they report. Proxies are addresses,
 * networks (`10.0.0.0/8`), or `loopback`, `linklocal`, `uniquelocal`.
 */
export function clientAddress(trustedProxies: readonly string[]): ClientAddress {
  if (trustedProxies.length === 0) return (request) => plain(request.socket.remoteAddress ?? '');
  const trusts = proxyAddr.compile([...trustedProxies]);
  const trust = (reported: string, hops: number): boolean => trusts(withoutPort(reported), hops);
  return (request) => plain(withoutPort(proxyAddr(request, trust) ?? ''));
}

/** IPv6 assigns networks of 64 bits. A client can use every address of its network, so all of them count as one. */
export function networkOf(address: string): string {
  if (!address.includes(':') || !isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`;
}

/** Some proxies report the port too, `192.0.2.1:4711` or `[2001:db8::1]:4711`. It differs for each connection. */
function withoutPort(reported: string): string {
  return /^\[([^\]]+)\](?::\d+)?$/.exec(reported)?.[1] ?? /^([\d.]+):\d+$/.exec(reported)?.[1] ?? reported;
}

function plain(reported: string): string {
  const address = reported.slice(0, MAX_LENGTH);
  if (address.startsWith('::ffff:')) return address.slice(7);
  const zone = address.indexOf('%');
  return zone === -1 ? address : address.slice(0, zone);
}

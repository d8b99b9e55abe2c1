import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { clientAddress, networkOf } from './client-address.ts';

const from = (remoteAddress: string, forwarded?: string) =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage;

describe('the address of a client', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['fe80::1%eth0', 'fe80::1'],
  ])('is that of the socket: %s', (remote, address) => {
    expect(clientAddress([])(from(remote, '203.0.113.5'))).toBe(address);
  });

  it('is the one that the nearest trusted proxies report, not the one that they received', () => {
    const address = clientAddress(['10.0.0.0/8']);
    expect(address(from('10.1.1.1', '198.51.100.7, 203.0.113.5'))).toBe('203.0.113.5');
    expect(address(from('10.1.1.1', '203.0.113.5, 10.2.2.2'))).toBe('203.0.113.5');
    expect(address(from('192.0.2.1', '203.0.113.5'))).toBe('192.0.2.1');
  });

  it.each([
    ['203.0.113.5:4711', '203.0.113.5'],
    ['[2001:db8::1]:4711', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['2001:db8::1:4711', '2001:db8::1:4711'],
    ['203.0.113.5:4711, 10.2.2.2:80', '203.0.113.5'],
    ['198.51.100.7, unknown:80', 'unknown:80'],
  ])('has no port, even when a proxy reports one: %s', (forwarded, address) => {
    expect(clientAddress(['10.0.0.0/8'])(from('10.1.1.1', forwarded))).toBe(address);
  });
});

it('a client reported at any length has at most 128 characters', () => {
  expect(clientAddress(['10.0.0.0/8'])(from('10.1.1.1', 'a'.repeat(8000)))).toBe('a'.repeat(128));
});

describe('the network of an address', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['no address', 'no address'],
    ['', ''],
  ])('of %s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});

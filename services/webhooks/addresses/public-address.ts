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

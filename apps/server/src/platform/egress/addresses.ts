import ipaddr from 'ipaddr.js';

/** The blocks of the internet's addresses (RFC 4291, section 2.4; IANA has given out no other block). */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/**
 * Whether an address belongs to the public internet. Addresses of a special purpose (RFC 6890 and the IANA
 * registries) do not, nor do those that carry an IPv4 address, which some router may take out again.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || address.match(globalUnicast);
}

import ipaddr from 'ipaddr.js';

/** Where the addresses of the internet are (RFC 4291, section 2.4; IANA has given out no other block). */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/**
 * Whether an address is one of the public internet. Not one of a special purpose (RFC 6890 and the IANA registries),
 * nor one that carries an IPv4 address in it, which some router may take out again.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || address.match(globalUnicast);
}

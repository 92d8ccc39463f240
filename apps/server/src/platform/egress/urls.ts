import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import ipaddr from 'ipaddr.js';
import { getPublicSuffix } from 'tldts';

/** The operator's permissions beyond `https` to the public internet. */
export interface UrlRules {
  readonly allowsHttp: boolean;
  readonly allowsPrivateHosts: boolean;
}

/** White space, control characters, and `\`, which some readers take for `/`. */
const UNCLEAR = /[\p{Cc}\s\\]/u;

/** Names that stand for no host of the internet (RFC 6761, RFC 6762, RFC 8375, and those of cloud metadata). */
const PRIVATE_NAME =
  /^(metadata|metadata\.goog|instance-data|(.*\.)?(localhost|localdomain|local|internal|home\.arpa))$/;

/**
 * Checks the text alone, so it says nothing about where a name leads.
 * @returns undefined for a URL that may not be called
 */
export function acceptUrl(text: string, rules: UrlRules): URL | undefined {
  if (UNCLEAR.test(text) || text.includes('#') || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const hasUserInfo = /^[^/]*(?:\/+[^/?]*)?@/.test(text);
  if (hasUserInfo || url.port === '0' || !schemes(rules).has(url.protocol)) return undefined;
  return rules.allowsPrivateHosts || isPublicHost(hostOf(url)) ? url : undefined;
}

const schemes = ({ allowsHttp }: UrlRules) => new Set(allowsHttp ? ['https:', 'http:'] : ['https:']);

/** A name without dots at its end, or an address without brackets. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$|(?<!\.)\.+$/g, '');

/** A URL's own parser has brought every spelling of an address to one form: `0x7f.1` is `127.0.0.1` here. */
const isPublicHost = (host: string) => (isIP(host) ? isPublicAddress(host) : !PRIVATE_NAME.test(host));

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

/** Characters that end or begin another part of a URL, and blanks: `domainToASCII` reads some as such. */
const OF_OTHER_PARTS = /[\s/:@?#%\\*[\]<>^|]/;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const LONGEST = 253; // RFC 1035, section 2.3.4
const SPECIAL_USE = /(?:^|\.)(?:localhost|local|internal|test|example|invalid|onion)$/; // RFC 6761, 6762, 7686

/**
 * The name of a domain that one party can own, in the form of the DNS: lower case, A-labels (UTS 46), no dot at the end.
 * @returns undefined for addresses, wildcards, single labels, public suffixes such as `co.uk`, and everything that is
 * more than a name
 */
export function domainName(
  text: string,
  { allowsSpecialUse }: { allowsSpecialUse: boolean },
): string | undefined {
  const trimmed = text.trim().toLowerCase().replace(/\.$/, '');
  if (trimmed.length > LONGEST || OF_OTHER_PARTS.test(trimmed)) return undefined;
  const name = domainToASCII(trimmed);
  const labels = name.split('.');
  const isName = labels.length >= 2 && labels.every((label) => LABEL.test(label));
  if (!isName || name.length > LONGEST || isIP(name) > 0) return undefined;
  if (getPublicSuffix(name, { allowPrivateDomains: true }) === name) return undefined;
  return allowsSpecialUse || !SPECIAL_USE.test(name) ? name : undefined;
}

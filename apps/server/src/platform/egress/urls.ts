import { isIP } from 'node:net';
import { isPublicAddress } from './addresses.ts';

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

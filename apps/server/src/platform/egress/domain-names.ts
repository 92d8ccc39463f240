import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { getPublicSuffix } from 'tldts';

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

import { BehestError } from '../errors.ts';

/**
 * The address of the issuer that a DID names. An issuer on this machine is asked over http.
 *
 * @throws BehestError for a DID of another method
 * @see https://w3c-ccg.github.io/did-method-web/, section 3.2: a colon separates paths, and that of a port is escaped
 */
export function issuerOfDid(did: string): string {
  const [, host = '', rest = ''] = /^did:web:([\w.%-]+)((?::[\w.%-]+)*)$/.exec(did) ?? [];
  const url = `https://${host.replace(/%3a/i, ':')}${rest.replaceAll(':', '/')}`;
  if (!host || !URL.canParse(url)) throw new BehestError('CONFIGURATION', `No issuer is found by ${did}.`);
  const isLocal = ['localhost', '127.0.0.1'].includes(new URL(url).hostname);
  return isLocal ? url.replace('https:', 'http:') : url;
}

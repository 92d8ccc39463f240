import { BehestError } from '../errors.ts';

/**
 * The address of the issuer that a DID names. An issuer on this machine is asked over http.
 *
 * @throws BehestError for a DID of another method
 * @see https://w3c-ccg.github.io/did-method-web/, section 3.2: a colon separates paths, and that of a port is escaped
 */
export function issuerOfDid(did: string): string {
  const [host = '', ...path] = did.startsWith('did:web:') ? did.slice(8).split(':') : [];
  const isLocal = /^(?:localhost|127\.0\.0\.1)(?:%3a|$)/i.test(host);
  const url = [`http${isLocal ? '' : 's'}://${host.replace(/%3a/i, ':')}`, ...path].join('/');
  if (/^[\w.%-]+$/.test(host) && URL.canParse(url)) return url;
  throw new BehestError('CONFIGURATION', `No issuer: ${did}`);
}

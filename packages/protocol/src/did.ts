/**
 * The DID of whoever holds a host's web site.
 *
 * @param host as in a URL, with its port if it has one: `localhost:3001`
 * @see https://w3c-ccg.github.io/did-method-web/ for why the colon of a port is escaped
 */
export const didOfHost = (host: string): string => `did:web:${encodeURIComponent(host)}`;

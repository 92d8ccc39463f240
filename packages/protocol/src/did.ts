/**
 * Makes the `did:web` identifier of a host.
 *
 * @param host as in a URL, with the port if the URL has one: `localhost:3001`
 * @see https://w3c-ccg.github.io/did-method-web/, which has the colon of a port escaped
 *
 * @example
 * ```ts
 * didOfHost('auth.example.com'); // 'did:web:auth.example.com'
 * didOfHost('localhost:3001'); // 'did:web:localhost%3A3001'
 * ```
 */
export const didOfHost = (host: string): string => `did:web:${encodeURIComponent(host)}`;

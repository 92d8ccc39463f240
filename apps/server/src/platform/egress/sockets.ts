import { connect, type LookupFunction } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Connections to checked addresses, for libraries of other protocols than HTTP, which choose the options themselves. */
export interface Sockets {
  readonly createConnection: typeof connect;
  readonly createSecureConnection: typeof connectTls;
}

/** A library may ask for TLS on a socket that it has. Certificates are checked in any case. */
export function socketsTo(lookup: LookupFunction): Sockets {
  const pinned = (options: object) => ({ ...options, lookup, rejectUnauthorized: true });
  return {
    createConnection: ((options: object) =>
      connect({ port: 0, ...pinned(options) })) as Sockets['createConnection'],
    createSecureConnection: ((options: object) =>
      connectTls(pinned(options))) as Sockets['createSecureConnection'],
  };
}

import { connect, type LookupFunction, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';

/** Connections to checked addresses, for libraries of other protocols than HTTP. */
export interface Sockets {
  plain(port: number, host: string): Socket;
  /** Certificates are checked in any case. */
  secure(options: ConnectionOptions): TLSSocket;
}

export const socketsTo = (lookup: LookupFunction): Sockets => ({
  plain: (port, host) => connect({ port, host, lookup }),
  secure: (options) => connectTls({ ...options, lookup, rejectUnauthorized: true }),
});

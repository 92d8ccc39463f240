import { Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** How often the process wrote to each peer. */
export interface Writes {
  client: number;
  redis: number;
  postgres: number;
}

/** The ports of this machine by which the peers are told apart: the service's own, and those of the stores. */
type Ports = Readonly<Record<keyof Writes, number>>;

/** The methods of a socket that write to the network, once for each call. */
type Writer = Record<'_write' | '_writev', (this: Socket, ...given: unknown[]) => void>;

/**
 * Counts the writes of this process to its sockets until the test is over. A write costs more than most hooks. Some do
 * not count, since they belong to no request: hints of commits, of which several may be one, looks whether Redis is there,
 * and the ends of connections to Postgres that were idle.
 */
export function countingWrites(ports: Ports): Writes {
  const writes: Writes = { client: 0, redis: 0, postgres: 0 };
  const peerOf = ({ localPort, remotePort }: Socket): keyof Writes | undefined => {
    if (localPort === ports.client) return 'client';
    if (remotePort === ports.redis) return 'redis';
    return remotePort === ports.postgres ? 'postgres' : undefined;
  };
  for (const name of ['_write', '_writev'] as const) {
    const { prototype }: { prototype: Writer } = Object(Socket);
    const write = prototype[name];
    prototype[name] = function (...given) {
      const peer = peerOf(this);
      const isIts = !(peer === 'redis' && isAside(given[0])) && !(peer === 'postgres' && isEnd(given[0]));
      if (peer !== undefined && isIts) writes[peer] += 1;
      write.apply(this, given);
    };
    onTestFinished(() => {
      prototype[name] = write;
    });
  }
  return writes;
}

/** @param given the first argument of either method: one piece, or several with their encodings */
const textOf = (given: unknown): string =>
  Array.isArray(given) ? given.map(({ chunk }) => String(chunk)).join('') : String(given);

/** Whether a write is `Terminate` in the protocol of Postgres. */
const isEnd = (given: unknown): boolean => textOf(given) === 'X\0\0\0\x04';

/** Whether each command of a write is one that no request waits for (RESP: an array of texts, of which the first names it). */
function isAside(given: unknown): boolean {
  const commands = [...textOf(given).matchAll(/^\*\d+\r\n\$\d+\r\n(\w+)\r$/gm)].map(([, name]) => name);
  return commands.length > 0 && commands.every((name = '') => /^(?:PUBLISH|PING)$/.test(name));
}

/**
 * A client of Redis, as the caller has it: of `redis` or `@redis/client` (`sendCommand`), of `ioredis` (`call`), or a
 * function. A node-redis cluster needs the function, because it asks for the key by which a node is found:
 * `(command, key) => cluster.sendCommand(key, false, command)`.
 */
export type RedisClient =
  | { call(command: string, ...args: string[]): Promise<unknown> }
  | { sendCommand(command: string[]): Promise<unknown> }
  | ((command: string[], key: string) => Promise<unknown>);

/** Sends one command to the node that holds `key`. */
export type Send = (command: string[], key: string) => Promise<unknown>;

/** @throws TypeError for a value that is no client */
export function sendBy(client: RedisClient): Send {
  if (typeof client === 'function') return client;
  // ioredis comes first: it has a `sendCommand` too, which takes something else.
  if ('call' in client) return ([command = '', ...args]) => client.call(command, ...args);
  if ('sendCommand' in client) return (command) => client.sendCommand(command);
  throw new TypeError('The meter needs a client of redis or ioredis, or a function that sends a command.');
}

/**
 * A client of Redis, as the caller has it: of `redis` or `@redis/client` (`sendCommand`), of `ioredis` (`call`), or a
 * function. A node-redis cluster needs the function, because it asks for the key by which a node is found:
 * `(command, key) => cluster.sendCommand(key, false, command)`.
 */
export type RedisClient =
  | { call(command: string, ...args: string[]): Promise<unknown> }
  | { sendCommand(command: string[], options?: object): Promise<unknown> }
  | ((command: string[], key: string) => Promise<unknown>);

/** Sends one command to the node that holds `key`. */
export type Send = (command: string[], key: string) => Promise<unknown>;

/**
 * @param timeoutMs after which the caller waits for a command no longer
 * @throws TypeError for a value that is no client
 */
export function sendBy(client: RedisClient, timeoutMs: number): Send {
  if (typeof client === 'function') return client;
  // ioredis comes first: it has a `sendCommand` too, which takes something else.
  if ('call' in client) return ([command = '', ...args]) => client.call(command, ...args);
  if ('sendCommand' in client) {
    const optionsNow = withdrawing(timeoutMs);
    return (command) => client.sendCommand(command, optionsNow());
  }
  throw new TypeError('The meter needs a client of redis or ioredis, or a function that sends a command.');
}

/**
 * Options of node-redis that withdraw a command which could not be written in time, so that it is not charged for when
 * Redis comes back. The client would do so by itself, with a timer for each command that costs more than the command; here
 * the commands of a while share one.
 */
function withdrawing(timeoutMs: number): () => object {
  let options: object = {};
  let until = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now < until) return options;
    until = now + timeoutMs;
    options = { timeout: 0, abortSignal: AbortSignal.timeout(2 * timeoutMs) };
    return options;
  };
}

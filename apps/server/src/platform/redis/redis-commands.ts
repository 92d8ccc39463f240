import { connectToCluster, connectToServer, nodesOf, type RedisConnection } from './redis-connection.ts';

/** A Redis to which a feature speaks by itself. */
export interface RedisCommands {
  /** Sends a command to the node that holds `key`. It does not wait for a Redis that is away. */
  send(command: string[], key: string): Promise<unknown>;
  close(): void;
}

/**
 * Connects at the first command.
 *
 * @param url as that of the store, but for `memory:`
 * @param onTrouble called once each time Redis goes away, and with undefined when it is back
 */
export function redisCommands(url: string, onTrouble: (error?: Error) => void): RedisCommands {
  const away = new Set<string>(); // nodes
  const onLost = (node: string, error: Error) => {
    if (away.size === 0) onTrouble(error);
    away.add(node);
  };
  const onReady = (node: string) => {
    if (away.delete(node) && away.size === 0) onTrouble();
  };
  const nodes = nodesOf(url);
  let connection: RedisConnection | undefined;
  const connect = () =>
    nodes.length > 1
      ? connectToCluster(nodes, { onLost, onReady })
      : connectToServer(url, { onLost, onReady });
  return {
    async send(command, key) {
      connection ??= connect();
      await connection.attempted;
      return connection.send(command, key);
    },
    close: () => connection?.close(),
  };
}

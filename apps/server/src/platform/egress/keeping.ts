import type { Agent, AgentOptions, IncomingMessage } from 'node:http';
import https from 'node:https';
import { http } from '../node-http.ts';

/** Connections that wait for the next read of their holder. Node's agent ends one at which bytes arrive meanwhile. */
export interface KeptConnections {
  readonly http: Agent;
  readonly https: https.Agent;
}

const OPTIONS: AgentOptions = {
  keepAlive: true,
  maxFreeSockets: 4, // a holder has few reads at once
  timeout: 4_000, // servers close idle connections after 5 s as a rule
};

export function keptConnections(): KeptConnections {
  return { http: byHolder(new http.Agent(OPTIONS)), https: byHolder(new https.Agent(OPTIONS)) };
}

/**
 * A connection, and a session of TLS, is found again by its holder and its checked addresses, besides its origin and its
 * certificates.
 */
function byHolder<Kind extends Agent>(agent: Kind): Kind {
  const nameOf = agent.getName.bind(agent);
  agent.getName = (options) => `${nameOf(options)} ${keyOf(Object(options).keptFor)}`;
  return agent;
}

interface KeptFor {
  readonly holder: string;
  readonly addresses: readonly string[];
}

const keyOf = ({ holder, addresses }: KeptFor) => JSON.stringify([holder, ...addresses.toSorted()]);

/**
 * Says whether all servers see the same end of the answer. Where they could differ, as with the body that a wrong server
 * sends to HEAD, its rest could be taken for the answer to the next request.
 */
export function isBounded(method: string, { statusCode = 0, headers }: IncomingMessage): boolean {
  const isFramed = (headers['content-length'] === undefined) !== (headers['transfer-encoding'] === undefined);
  return method === 'GET' && isFramed && ![204, 205, 304].includes(statusCode);
}

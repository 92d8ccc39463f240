import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** One request as it goes over the wire. */
export interface SentRequest {
  readonly method: string;
  readonly target: string;
  /** Name, value, name, value. A name may come twice. */
  readonly headers: readonly string[];
  readonly body?: Buffer;
  /** Bytes in place of all that, for requests that no client library sends. */
  readonly raw?: Buffer;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** @returns a function that sends requests to this port, over at most this number of connections */
export function clientOf(port: number, connections: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const ask = (asked: SentRequest): Promise<Answer> =>
    asked.raw ? talk(port, asked.raw) : exchange(port, agent, asked);
  return { ask, close: () => agent.destroy() };
}

export type Ask = ReturnType<typeof clientOf>['ask'];

const PATIENCE = 30_000; // milliseconds to wait for an answer

function exchange(
  port: number,
  agent: Agent,
  { method, target, headers, body }: SentRequest,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = body ? ['content-length', String(body.length)] : [];
    const hasHost = headers.some((each, at) => at % 2 === 0 && each.toLowerCase() === 'host');
    const host = hasHost ? [] : ['host', `127.0.0.1:${port}`];
    const lines = [...host, ...headers, ...length];
    const sent = request({ port, host: '127.0.0.1', agent, method, path: target, headers: lines });
    sent.setTimeout(PATIENCE, () => sent.destroy(new Error('There is no answer.')));
    sent.once('error', reject);
    sent.once('response', (answer) => {
      const isLive = answer.statusCode === 200 && ENDLESS.test(decoded(target));
      (isLive ? beginningOf(answer) : buffer(answer)).then((bytes) => {
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: bytes.toString('utf8') });
      }, reject);
    });
    sent.end(body);
  });
}

/** A target may name the host too (RFC 9112, section 3.2.2). */
const ENDLESS = /^(https?:\/\/[^/]*)?\/v1\/(events\/stream|approver\/events)/i;

/** A path as the service reads it. */
function decoded(target: string): string {
  try {
    return decodeURIComponent(target);
  } catch {
    return target;
  }
}

/** The first part of an answer that does not end by itself. Leaving the loop ends it. */
async function beginningOf(answer: IncomingMessage): Promise<Buffer> {
  for await (const part of answer) return part;
  return Buffer.of(); // the answer to HEAD has no body
}

/** Uses a connection of its own, until the service ends it. */
async function talk(port: number, bytes: Buffer): Promise<Answer> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.setTimeout(PATIENCE, () => socket.destroy(new Error('There is no answer.')));
  socket.write(bytes);
  const [head = '', ...rest] = (await buffer(socket)).toString('utf8').split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return {
    status: Number(first.slice(9, 12)),
    headers: Object.fromEntries(headers),
    body: rest.join('\r\n\r\n'),
  };
}

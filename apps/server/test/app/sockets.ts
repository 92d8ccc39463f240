import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { Event } from './streams.ts';

interface Asked {
  /** The address of the service. */
  readonly url: string;
  readonly apiKey?: string;
  /** For example `types=grant.*`. */
  readonly query?: string;
  /** Sent besides the key. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the socket answers pings, as every client does by default. */
  readonly autoPong?: boolean;
}

function connect({ url, apiKey, query = '', headers, autoPong = true }: Asked): WebSocket {
  const address = `${url.replace('http', 'ws')}/v1/events/ws?${query}`;
  const authorization = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const socket = new WebSocket(address, { headers: { ...authorization, ...headers }, autoPong });
  onTestFinished(() => socket.terminate());
  return socket.on('error', () => {}); // each test waits for what it expects
}

/** Opens a WebSocket and reads it until the test is over. */
export async function followSocket(asked: Asked) {
  const socket = connect(asked);
  const messages: string[] = [];
  let pings = 0;
  socket.on('message', (data) => messages.push(String(data)));
  socket.on('ping', () => {
    pings += 1;
  });
  const ended = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: String(reason) }));
  });
  const [[response]] = await Promise.all([
    once(socket, 'upgrade') as Promise<[IncomingMessage]>,
    once(socket, 'open'),
  ]);
  const told = () => messages.map((text): Event => JSON.parse(text));
  const events = () => told().filter(({ type }) => type !== 'gap');
  const until = (isEnough: () => boolean) => vi.waitUntil(isEnough, { timeout: 15_000, interval: 10 });
  return {
    socket,
    headers: response.headers,
    messages,
    told,
    events,
    ended,
    until,
    pings: () => pings,
    /** Resolves when the service has read everything that was sent before. */
    async heard() {
      const answered = once(socket, 'pong');
      socket.ping();
      await answered;
    },
    /** Waits for `count` events. @returns their ids */
    async first(count: number) {
      await until(() => events().length >= count);
      return events().map(({ id }) => id);
    },
  };
}

/** The answer to a refused handshake. */
export async function refusalOf(asked: Asked) {
  const socket = connect(asked);
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  const body = JSON.parse(Buffer.concat(await response.toArray()).toString());
  return { status: response.statusCode, headers: response.headers, body };
}

import type { RawData, WebSocket } from 'ws';
import type { Caller } from '../../../platform/caller.ts';
import { AppError } from '../../../platform/errors.ts';
import { gapText } from './events.rules.ts';
import { LAST_WORDS_WITHIN, MAX_WAITING, type Outlet } from './outlet.ts';
import type { StreamRequest, Streams } from './streams.ts';

/** Messages, pings and pongs that a client may send between two pings of the service. */
const MAX_RECEIVED = 100;

/** Close codes: RFC 6455, section 7.4.1, and its registry. */
const CLOSINGS = {
  stopping: [1001, 'The service is stopping, connect again'],
  credentialEnded: [1008, 'The API key is no longer valid'],
  badFrame: [1008, 'Send {"types":["grant.*"]} with known event types, and not often'],
  tooMany: [1013, 'The account has no free stream, close a stream or retry later'],
} as const;

/**
 * Opens a stream over a WebSocket. A stream above the limit is accepted and then closed, because programs in
 * browsers see the code of a close and not the status of a refusal.
 * @param accept takes over the connection; it is called last
 * @throws BAD_REQUEST
 */
export async function openSocket(
  streams: Streams,
  caller: Caller,
  request: StreamRequest,
  accept: () => WebSocket,
): Promise<void> {
  try {
    await streams.open(caller, request, (choose) => {
      return socketOutlet(accept(), streams.filterIn, choose);
    });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'TOO_MANY_CONNECTIONS') throw error;
    socketOutlet(accept(), streams.filterIn, () => {}).end('tooMany');
  }
}

/**
 * An outlet over a WebSocket. It sends envelopes, and each message from the client chooses the types of
 * events.
 */
function socketOutlet(
  socket: WebSocket,
  filterIn: Streams['filterIn'],
  choose: (patterns: readonly string[]) => void,
): Outlet {
  let unsent = 0;
  let received = 0;
  let isPingOpen = false;
  let proceed: (() => void) | undefined;
  const goOn = () => {
    proceed?.();
    proceed = undefined;
  };
  const isClosed = () => socket.readyState !== socket.OPEN;
  const endWithin = () => {
    const timer = setTimeout(() => socket.terminate(), LAST_WORDS_WITHIN).unref();
    socket.once('close', () => clearTimeout(timer));
  };
  const end = (why: keyof typeof CLOSINGS) => {
    if (isClosed()) return;
    const [code, reason] = CLOSINGS[why];
    socket.close(code, reason);
    endWithin();
  };
  const write = (text: string) => {
    if (isClosed()) return;
    unsent += 1;
    socket.send(text, () => {
      unsent -= 1;
      if (unsent === 0) goOn();
    });
    if (socket.bufferedAmount > MAX_WAITING) socket.terminate();
  };
  const count = () => {
    received += 1;
    if (received > MAX_RECEIVED) end('badFrame');
  };
  const receive = (message: RawData, isBinary: boolean) => {
    count();
    if (isClosed()) return;
    const patterns = Buffer.isBuffer(message) && !isBinary ? filterIn(message) : undefined;
    if (patterns) choose(patterns);
    else end('badFrame');
  };

  socket.on('message', receive).on('ping', count).on('pong', count);
  socket.on('pong', () => {
    isPingOpen = false;
  });
  socket.once('close', goOn);
  socket.on('error', endWithin); // the library has sent the close code of a malformed or large frame

  return {
    isClosed,
    end,
    event: ({ envelope }) => write(envelope),
    gap: (cursor) => write(gapText(cursor)),
    keepalive() {
      if (isClosed()) return;
      if (isPingOpen) return socket.terminate();
      isPingOpen = true;
      received = 0;
      socket.ping();
    },
    taken() {
      if (isClosed() || unsent === 0) return Promise.resolve();
      return new Promise((resolve) => {
        proceed = resolve;
      });
    },
    onceClosed: (listener) => void socket.once('close', listener),
    cutOff: () => socket.terminate(),
  };
}

import type { RawData, WebSocket } from 'ws';
import type { Caller } from '../../../platform/caller.ts';
import { AppError } from '../../../platform/errors.ts';
import { gapText } from './events.frames.rules.ts';
import { LAST_WORDS_WITHIN, MOST_WAITING, type Outlet } from './events.outlet.service.ts';
import type { StreamRequest, Streams } from './events.streams.service.ts';

/** From one ping of ours to the next. Who sends more does not mean to be told of events. */
const MOST_RECEIVED = 100;

/** RFC 6455, section 7.4.1, and the registry of codes that it founds. */
const CLOSINGS = {
  stopping: [1001, 'The service stops, connect again'],
  keyEnded: [1008, 'The API key is not good any more'],
  badFrame: [1008, 'Send {"types":["grant.*"]} with types of events there are, and not often'],
  tooMany: [1013, 'The account has as many streams as it may, try again later'],
} as const;

/**
 * Opens a stream over a WebSocket. One that is too many is accepted and then closed, since programs in browsers are
 * shown the code of a close, and not the status of a refusal.
 * @param accept takes the connection over, and is called when nothing but that is left to do.
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

/** An outlet that is a WebSocket: each message is an envelope, and what comes back names the types to be told of. */
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
    if (socket.bufferedAmount > MOST_WAITING) socket.terminate();
  };
  const count = () => {
    received += 1;
    if (received > MOST_RECEIVED) end('badFrame');
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
  socket.on('error', endWithin); // what is no WebSocket frame, or too large a one, is answered with its code already

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

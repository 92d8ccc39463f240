import type { Agent, AgentOptions, ClientRequest, IncomingMessage } from 'node:http';
import https from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import { http } from '../node-http.ts';

/** Connections that wait for the next read of their holder. Node's agent ends one at which bytes arrive meanwhile. */
interface KeptConnections {
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
function isBounded(method: string, { statusCode = 0, headers }: IncomingMessage): boolean {
  const isFramed = (headers['content-length'] === undefined) !== (headers['transfer-encoding'] === undefined);
  return method === 'GET' && isFramed && ![204, 205, 304].includes(statusCode);
}

/** A request of another party whose body and answer are passed on as they come. */
export interface PassedRequest {
  /** The scheme, the host and the port. */
  readonly origin: string;
  /** The path with its query, sent as it stands. */
  readonly target: string;
  readonly method: string;
  /** Without `host`. A body of unknown length goes in chunks. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Readable | Buffer;
  /**
   * The holder of the connection, such as a credential. The next read of the same holder from the same origin may take
   * the connection over. Without a holder, the connection ends with the answer.
   */
  readonly holder?: string;
  readonly times: PassingTimes;
  /** Ends the call, whatever its state. */
  readonly signal: AbortSignal;
}

export type PassingFailure =
  | 'timeout'
  | 'connection_failed'
  | 'dns_failed'
  | 'tls_failed'
  | 'blocked_address'
  /** The other side broke HTTP/1.1. */
  | 'protocol';

export type PassedAnswer =
  | { readonly answer: IncomingMessage; readonly failure?: undefined }
  | {
      readonly failure: PassingFailure;
      /** Whether a byte of the request may have left. */
      readonly mayHaveSent: boolean;
      readonly answer?: undefined;
    };

interface Connection {
  readonly lookup: LookupFunction;
  /** The addresses that were checked for this request. */
  readonly addresses: readonly string[];
  readonly kept: KeptConnections;
  readonly maxHeaderSize: number;
  readonly ca: string | undefined;
  /** When the call began, in milliseconds of `performance.now()`. */
  readonly began: number;
}

/**
 * Sends the request and returns the answer before its body. The returned stream fails when a time is over. Never throws,
 * and follows no redirect. A read may take over a connection of its holder; every other request has one of its own.
 */
export async function pass(request: PassedRequest, connection: Connection): Promise<PassedAnswer> {
  const mayTakeOver = request.holder !== undefined && isRead(request);
  const { isStale, ...first } = await attempt(request, connection, mayTakeOver);
  if (!isStale) return first;
  const second = await attempt(request, connection, false);
  return second.failure === undefined ? second : { ...second, mayHaveSent: true };
}

/** A read may be sent again when the other side had closed the connection. RFC 9110, section 9.2.2 */
const isRead = ({ method, body }: PassedRequest) =>
  body === undefined && (method === 'GET' || method === 'HEAD');

type Attempted = PassedAnswer & {
  /** True when the connection that was taken over ended without a byte of an answer. */
  readonly isStale?: boolean;
};

function attempt(request: PassedRequest, connection: Connection, mayTakeOver: boolean): Promise<Attempted> {
  const { method, target, headers, body, times, signal, holder } = request;
  const url = new URL(request.origin);
  const { lookup, addresses, kept, maxHeaderSize, ca } = connection;
  const options = { method, path: target, headers, lookup, maxHeaderSize, keptFor: { holder, addresses } };
  const isTls = url.protocol === 'https:';
  const call = isTls
    ? https.request(url, {
        ...options,
        agent: mayTakeOver ? kept.https : new https.Agent(),
        rejectUnauthorized: true,
        minVersion: 'TLSv1.2',
        ca,
      })
    : http.request(url, { ...options, agent: mayTakeOver ? kept.http : new http.Agent() });

  return new Promise((done) => {
    const clocks = clocksOf(call, times, connection.began);
    // As an option, the signal would also go to the connection, and end it in the middle of a later request.
    const giveUp = () => void call.destroy(new Error('The request was given up.'));
    signal.addEventListener('abort', giveUp, { once: true });
    let isConnected = false;
    let isInHandshake = false;
    let isUnread = () => false;
    call.on('error', (error) => {
      const failure = clocks.isOver() ? 'timeout' : failureOf(error, isInHandshake);
      const isStale = failure === 'connection_failed' && isUnread() && !signal.aborted;
      done({ failure, mayHaveSent: isConnected, ...(isStale && { isStale }) });
    });
    call.on('close', () => {
      clocks.stop();
      signal.removeEventListener('abort', giveUp);
      done({ failure: 'connection_failed', mayHaveSent: isConnected }); // no effect after another end
    });
    if (signal.aborted) giveUp();
    call.on('socket', (socket: Socket) => {
      const connected = () => {
        isConnected = true;
        isInHandshake = false;
        clocks.connected();
      };
      if (call.reusedSocket) {
        const read = socket.bytesRead;
        isUnread = () => socket.bytesRead === read;
        return connected();
      }
      socket.once('connect', () => {
        isInHandshake = isTls;
        if (!isTls) connected();
      });
      if (isTls) socket.once('secureConnect', connected);
      return undefined;
    });
    call.on('response', (answer) => {
      if (!isBounded(method, answer)) call.shouldKeepAlive = false;
      clocks.answered(answer);
      done({ answer });
    });
    call.on('upgrade', (_answer, socket) => {
      socket.destroy();
      done({ failure: 'protocol', mayHaveSent: true });
    });
    // A body that breaks off ends the call, and the error of the call tells the rest.
    if (body === undefined || Buffer.isBuffer(body)) call.end(body);
    else pipeline(body, call, () => {});
  });
}

/** System errors, such as `ECONNRESET`, are the connection's. All other errors of a handshake are about TLS. */
function failureOf(error: Error, isInHandshake: boolean): PassingFailure {
  const code = 'code' in error ? String(error.code) : '';
  if (code.startsWith('HPE_')) return 'protocol';
  const isOfSystem = /^E[A-Z]+$/.test(code) && code !== 'EPROTO';
  return isInHandshake && !isOfSystem ? 'tls_failed' : 'connection_failed';
}

/** Times in milliseconds. */
export interface PassingTimes {
  /** From the look-up of the name to the end of the handshake. */
  readonly connect: number;
  /** From there to the first byte of the answer. */
  readonly firstByte: number;
  /** Between two parts of the answer. */
  readonly gap: number;
  /** From the beginning to the end of an answer with this media type. */
  readonly total: (mediaType: string) => number;
}

/** The end of a time, in the stream of an answer. */
export class PassingTimeout extends Error {
  override readonly name = 'PassingTimeout';
}

/** Ends a call that takes longer than its times. */
function clocksOf(call: ClientRequest, { connect, firstByte, gap, total }: PassingTimes, began: number) {
  let isOver = false;
  let answer: IncomingMessage | undefined;
  const end = () => {
    isOver = true;
    const error = new PassingTimeout('The upstream took too long.');
    answer?.destroy(error);
    call.destroy(error);
  };
  const left = (milliseconds: number) => Math.max(0, milliseconds - (performance.now() - began));
  let step = setTimeout(end, left(connect));
  let whole = setTimeout(end, left(total('')));
  return {
    isOver: () => isOver,
    connected() {
      clearTimeout(step);
      step = setTimeout(end, firstByte);
    },
    answered(response: IncomingMessage) {
      answer = response;
      clearTimeout(step);
      clearTimeout(whole);
      whole = setTimeout(end, left(total(mediaTypeOf(response))));
      call.setTimeout(gap, end);
    },
    stop() {
      clearTimeout(step);
      clearTimeout(whole);
    },
  };
}

/** The media type of an answer without its parameters, in lower case. */
export const mediaTypeOf = ({ headers }: IncomingMessage): string =>
  (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

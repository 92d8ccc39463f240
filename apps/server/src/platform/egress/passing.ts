import type { ClientRequest, IncomingMessage } from 'node:http';
import https from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import * as http from '../node-http.ts';

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
  readonly maxHeaderSize: number;
  readonly ca: string | undefined;
  /** When the call began, in milliseconds of `performance.now()`. */
  readonly began: number;
}

/**
 * Sends the request over a connection of its own and returns the answer before its body. The returned stream fails when
 * a time is over. Never throws, and follows no redirect.
 */
export function pass(request: PassedRequest, connection: Connection): Promise<PassedAnswer> {
  const { method, target, headers, body, times, signal } = request;
  const url = new URL(request.origin);
  const { lookup, maxHeaderSize, ca } = connection;
  const options = { method, path: target, headers, lookup, maxHeaderSize, signal };
  const isTls = url.protocol === 'https:';
  const call = isTls
    ? https.request(url, {
        ...options,
        agent: new https.Agent(),
        rejectUnauthorized: true,
        minVersion: 'TLSv1.2',
        ca,
      })
    : http.request(url, { ...options, agent: new http.Agent() });

  return new Promise((done) => {
    const clocks = clocksOf(call, times, connection.began);
    let isConnected = false;
    let isInHandshake = false;
    call.on('socket', (socket: Socket) => {
      const connected = () => {
        isConnected = true;
        isInHandshake = false;
        clocks.connected();
      };
      socket.once('connect', () => {
        isInHandshake = isTls;
        if (!isTls) connected();
      });
      if (isTls) socket.once('secureConnect', connected);
    });
    call.on('response', (answer) => {
      clocks.answered(answer);
      done({ answer });
    });
    call.on('upgrade', (_answer, socket) => {
      socket.destroy();
      done({ failure: 'protocol', mayHaveSent: true });
    });
    call.on('error', (error) => {
      const failure = clocks.isOver() ? 'timeout' : failureOf(error, isInHandshake);
      done({ failure, mayHaveSent: isConnected });
    });
    call.on('close', () => {
      clocks.stop();
      done({ failure: 'connection_failed', mayHaveSent: isConnected }); // no effect after another end
    });
    // A body that breaks off ends the call, and the error of the call tells the rest.
    if (body === undefined || Buffer.isBuffer(body)) call.end(body);
    else pipeline(body, call, () => {});
  });
}

/** The end of a time, in the stream of an answer. */
export class PassingTimeout extends Error {
  override readonly name = 'PassingTimeout';
}

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

/** System errors, such as `ECONNRESET`, are the connection's. All other errors of a handshake are about TLS. */
function failureOf(error: Error, isInHandshake: boolean): PassingFailure {
  const code = 'code' in error ? String(error.code) : '';
  if (code.startsWith('HPE_')) return 'protocol';
  const isOfSystem = /^E[A-Z]+$/.test(code) && code !== 'EPROTO';
  return isInHandshake && !isOfSystem ? 'tls_failed' : 'connection_failed';
}

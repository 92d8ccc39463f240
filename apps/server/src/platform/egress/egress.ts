import type { IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import { http } from '../node-http.ts';
import type { Tracer } from '../telemetry/tracing.ts';
import { type Resolve, resolver } from './dns.ts';
import { keptConnections, type PassedAnswer, type PassedRequest, pass } from './passing.ts';
import { acceptUrl, hostOf, isPublicAddress, type UrlRules } from './urls.ts';

export interface OutgoingRequest {
  readonly url: string;
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** The reason why there is no answer. The service keeps no more: a detail could reveal the network inside. */
export type EgressFailure = 'timeout' | 'connection_failed' | 'dns_failed' | 'tls_failed' | 'blocked_address';

export type EgressOutcome =
  | { readonly status: number; readonly retryAfter?: string; readonly failure?: undefined }
  | { readonly failure: EgressFailure; readonly status?: undefined };

/**
 * An answer with its body. `too_large` is a body of more bytes than are read; `answered` is the status of an answer whose
 * body is not whole.
 */
export type EgressAnswer =
  | {
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      readonly body: Buffer;
      readonly failure?: undefined;
    }
  | {
      readonly failure: EgressFailure | 'too_large';
      readonly status?: undefined;
      readonly answered?: number;
    };

/** The only way in which the service calls an address that another party has named. */
export interface Egress {
  readonly rules: UrlRules;
  /** Never throws: a failure is an outcome. Follows no redirect, and keeps only `Retry-After` of an answer. */
  send(request: OutgoingRequest): Promise<EgressOutcome>;
  /** As `send`, and returns the body of the answer. */
  ask(request: OutgoingRequest): Promise<EgressAnswer>;
  /** Finds and checks the addresses of a server that speaks another protocol than HTTP. @param url with `https:` in its place */
  locate(
    url: string,
  ): Promise<({ readonly failure?: undefined } & Sockets) | { readonly failure: EgressFailure }>;
  /** Passes the request of another party on, and its answer back. Never throws. */
  pass(request: PassedRequest): Promise<PassedAnswer>;
}

export interface EgressOptions extends UrlRules {
  readonly resolve?: Resolve;
  /** The time from the look-up of the name to the end of the answer. */
  readonly timeoutMilliseconds?: number;
  /** The bytes that are read of an answer. */
  readonly mostBytes?: number;
  /** Certificates to trust in place of the system's. */
  readonly ca?: string;
}

const TIMEOUT = 10_000; // milliseconds
/** So many that a receiver need not find its answer cut. */
const MAX_BYTES = 65_536;
const MAX_HEADER_BYTES = 16_384;

export function createEgress(options: EgressOptions): Egress {
  const { resolve = resolver(), timeoutMilliseconds = TIMEOUT, mostBytes = MAX_BYTES, ca } = options;

  const kept = keptConnections();

  const call = async (request: OutgoingRequest): Promise<Received | Failed> => {
    const deadline = AbortSignal.timeout(timeoutMilliseconds);
    const found = await locate(request.url, deadline);
    if ('failure' in found) return { failure: found.failure };
    return exchange(found.url, found.addresses, request, { deadline, mostBytes, ca });
  };

  /** Finds the addresses of a URL that may be called. */
  async function locate(text: string, deadline: AbortSignal): Promise<Located | Failed> {
    const url = acceptUrl(text, options);
    if (!url) return { failure: 'blocked_address' };
    const addresses = await before(deadline, addressesOf(url, resolve)).catch(() => undefined);
    if (deadline.aborted) return { failure: 'timeout' };
    if (!addresses || addresses.length === 0) return { failure: 'dns_failed' };
    const mayConnect = options.allowsPrivateHosts || addresses.every(isPublicAddress);
    return mayConnect ? { url, addresses } : { failure: 'blocked_address' };
  }

  return {
    rules: options,
    async send(request) {
      const received = await call(request);
      if (received.failure !== undefined) return received;
      const { status, headers } = received;
      const retryAfter = headers['retry-after'];
      return { status, ...(retryAfter !== undefined && { retryAfter }) };
    },
    async ask(request) {
      const received = await call(request);
      if (received.failure !== undefined) return received;
      const { status, headers, body, cut } = received;
      return cut === undefined ? { status, headers, body } : { failure: cut, answered: status };
    },
    async locate(text) {
      const found = await locate(text, AbortSignal.timeout(timeoutMilliseconds));
      return 'failure' in found ? { failure: found.failure } : socketsTo(lookupIn(found.addresses));
    },
    async pass(request) {
      const began = performance.now();
      const deadline = AbortSignal.any([request.signal, AbortSignal.timeout(request.times.connect)]);
      const found = await locate(request.origin, deadline);
      if ('failure' in found) return { failure: found.failure, mayHaveSent: false };
      const { addresses } = found;
      const lookup = lookupIn(addresses);
      return pass(request, { lookup, addresses, kept, maxHeaderSize: MAX_HEADER_BYTES, ca, began });
    },
  };
}

interface Located {
  readonly url: URL;
  readonly addresses: readonly string[];
}

type Failed = Extract<EgressOutcome, { readonly failure: EgressFailure }>;

interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Why the body is not whole. */
  readonly cut?: 'too_large' | 'timeout' | 'connection_failed';
  readonly failure?: undefined;
}

interface Bounds {
  readonly deadline: AbortSignal;
  readonly mostBytes: number;
  readonly ca: string | undefined;
}

async function addressesOf(url: URL, resolve: Resolve): Promise<readonly string[]> {
  const host = hostOf(url);
  return isIP(host) ? [host] : resolve(host);
}

function before<T>(deadline: AbortSignal, work: Promise<T>): Promise<T> {
  const end = new Promise<never>((_, reject) => {
    deadline.addEventListener('abort', () => reject(deadline.reason), { once: true });
  });
  return Promise.race([work, end]);
}

/**
 * Connects to one of the checked addresses without another look-up; `Host` and the certificate's name are
 * those of the URL. A connection serves one request, and no proxy of the environment takes part.
 */
function exchange(
  url: URL,
  addresses: readonly string[],
  { method, headers, body }: OutgoingRequest,
  { deadline, mostBytes, ca }: Bounds,
): Promise<Received | Failed> {
  const options = {
    method,
    headers: body === undefined ? headers : { ...headers, 'content-length': Buffer.byteLength(body) },
    lookup: lookupIn(addresses),
    maxHeaderSize: MAX_HEADER_BYTES,
    signal: deadline,
  };
  const call =
    url.protocol === 'https:'
      ? https.request(url, { ...options, agent: new https.Agent(), rejectUnauthorized: true, ca })
      : http.request(url, { ...options, agent: new http.Agent() });

  return new Promise((done) => {
    let failed: Failed | undefined;
    let status: number | undefined;
    let answered: IncomingHttpHeaders = {};
    let isWhole = false;
    let isTooLarge = false;
    const parts: Buffer[] = [];
    let isInHandshake = false;
    call.on('socket', (socket) => {
      socket.once('connect', () => (isInHandshake = url.protocol === 'https:'));
      socket.once('secureConnect', () => (isInHandshake = false));
    });
    call.on('response', (answer) => {
      status = answer.statusCode ?? 0;
      answered = answer.headers;
      let read = 0;
      answer.on('data', (part: Buffer) => {
        read += part.length;
        isTooLarge = read > mostBytes;
        if (isTooLarge) call.destroy();
        else parts.push(part);
      });
      answer.on('end', () => (isWhole = !isTooLarge)); // the last part may be the one too many
      answer.on('error', () => {}); // the status is known, so the end does not matter
    });
    call.on('upgrade', (answer, socket) => {
      status = answer.statusCode ?? 0;
      socket.destroy();
    });
    call.on('error', (error) => {
      failed ??= { failure: deadline.aborted ? 'timeout' : failureOf(error, isInHandshake) };
    });
    call.on('close', () => {
      if (status === undefined) return done(failed ?? { failure: 'connection_failed' });
      const cut = isTooLarge ? 'too_large' : deadline.aborted ? 'timeout' : 'connection_failed';
      done({ status, headers: answered, body: Buffer.concat(parts), ...(!isWhole && { cut }) });
    });
    call.end(body);
  });
}

/**
 * System errors, such as `ECONNRESET`, are the connection's. All other errors of a handshake are about TLS.
 */
function failureOf(error: Error, isInHandshake: boolean): EgressFailure {
  const code = 'code' in error ? String(error.code) : '';
  const isOfSystem = /^E[A-Z]+$/.test(code) && code !== 'EPROTO';
  return isInHandshake && !isOfSystem ? 'tls_failed' : 'connection_failed';
}

function lookupIn(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_name, { all: wantsAll }, answer) => {
    const [first] = all;
    if (wantsAll) answer(null, all);
    else if (first) answer(null, first.address, first.family);
    else answer(new Error('No address.'), []);
  };
}

/** Makes a span for each call, without the address, because addresses hold secrets of their developers. */
export function tracedEgress(egress: Egress, tracer: Tracer): Egress {
  const traced = <Answer>({ method }: { readonly method: string }, call: () => Promise<Answer>) =>
    tracer.call({ name: `http ${method}`, attributes: { 'http.request.method': method } }, call);
  return {
    ...egress,
    send: (request) => traced(request, () => egress.send(request)),
    ask: (request) => traced(request, () => egress.ask(request)),
    pass: (request) => traced(request, () => egress.pass(request)),
  };
}

/** Connections to checked addresses, for libraries of other protocols than HTTP. */
export interface Sockets {
  plain(port: number, host: string): Socket;
  /** Certificates are checked in any case. */
  secure(options: ConnectionOptions): TLSSocket;
}

const socketsTo = (lookup: LookupFunction): Sockets => ({
  plain: (port, host) => connect({ port, host, lookup }),
  secure: (options) => connectTls({ ...options, lookup, rejectUnauthorized: true }),
});

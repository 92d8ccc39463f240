import { type IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type WebSocket, WebSocketServer } from 'ws';
import { AppError } from '../errors.ts';

/** What a client may send at a time, in bytes: no client of ours has much to say. */
const MOST_OF_MESSAGE = 4096; // specification, Events

declare module 'fastify' {
  interface FastifyReply {
    /**
     * Answers 101, and hands over what the connection has become.
     * @throws BAD_REQUEST when that is not what the client asked for.
     */
    acceptSocket(): WebSocket;
  }
}

/**
 * Which requests Node hands over with their connections. Any other may name a protocol to change to, as HTTP clients do
 * that try `h2c`, and is answered as if it had not (RFC 9110, section 7.8).
 */
export const isUpgrade = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';

/**
 * Lets routes accept WebSockets. A request for one takes the same path as all others, so it is refused, counted and
 * logged like them, with an answer of HTTP, until its route says `acceptSocket`.
 */
export function addUpgrades(app: FastifyInstance): void {
  const heads = new WeakMap<IncomingMessage, Buffer>();
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MOST_OF_MESSAGE,
    perMessageDeflate: false, // which costs more memory for a connection than what may wait for it
    handleProtocols: () => false,
  });
  sockets.on('wsClientError', () => {
    throw noHandshake();
  });

  app.server.on('upgrade', (request, _stream, head) => {
    const { socket } = request;
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once('finish', () => {
      if (response.socket === null) return; // it is a WebSocket now
      response.detachSocket(socket);
      socket.destroySoon();
    });
    socket.on('error', () => socket.destroy());
    heads.set(request, head);
    app.server.emit('request', request, response);
  });

  app.decorateReply('acceptSocket', function (this: FastifyReply) {
    const { request, raw: response } = this;
    const head = heads.get(request.raw);
    const headers = Object.entries(this.getHeaders()).map(([name, value]) => `${name}: ${value}`);
    this.header('sec-websocket-version', '13'); // for who is refused: RFC 6455, section 4.4
    if (!head) throw noHandshake();
    const addHeaders = (lines: string[]) => void lines.push(...headers);
    let accepted: WebSocket | undefined;
    sockets.once('headers', addHeaders);
    try {
      sockets.handleUpgrade(request.raw, request.raw.socket, head, (socket) => {
        accepted = socket;
      });
    } finally {
      sockets.off('headers', addHeaders);
    }
    if (!accepted) throw noHandshake(); // the client has gone
    this.hijack();
    response.detachSocket(request.raw.socket);
    response.statusCode = 101;
    response.emit('finish'); // as an answer of HTTP this was all, which hooks that wait for its end are told
    return accepted;
  });
}

const noHandshake = () =>
  new AppError('BAD_REQUEST', 'This is not the handshake of a WebSocket, version 13 (RFC 6455).');

import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type WebSocket, WebSocketServer } from 'ws';
import { AppError } from '../errors.ts';
import { http } from '../node-http.ts';

/** The most bytes of a client's message: no client of ours has much to say. */
const MAX_MESSAGE_BYTES = 4096; // bytes

declare module 'fastify' {
  interface FastifyReply {
    /**
     * Answers 101, and hands over the WebSocket.
     * @throws BAD_REQUEST when the client did not ask for a WebSocket
     */
    acceptSocket(): WebSocket;
  }
}

/**
 * Selects the requests that Node hands over with their connections. Any other request may name a protocol, as
 * HTTP clients do that try `h2c`, and is answered as if it had not (RFC 9110, section 7.8).
 */
export const isUpgrade = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';

/**
 * Lets routes accept WebSockets. Such a request takes the same path as all others. The service refuses,
 * counts and logs it like them, with an HTTP answer, until its route calls `acceptSocket`.
 */
export function addUpgrades(app: FastifyInstance): void {
  const heads = new WeakMap<IncomingMessage, Buffer>();
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false, // costs a connection more memory than its waiting messages
    handleProtocols: () => false,
  });
  sockets.on('wsClientError', () => {
    throw noHandshake();
  });

  app.server.on('upgrade', (request, _stream, head) => {
    const { socket } = request;
    const response = new http.ServerResponse(request);
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
    this.header('sec-websocket-version', '13'); // for refused clients: RFC 6455, section 4.4
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
    response.emit('finish'); // the HTTP answer ends here, for hooks that wait for its end
    return accepted;
  });
}

const noHandshake = () =>
  new AppError('BAD_REQUEST', 'This is not the handshake of a WebSocket, version 13 (RFC 6455).');

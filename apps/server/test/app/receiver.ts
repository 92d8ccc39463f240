import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { onTestFinished } from 'vitest';

export interface Received {
  readonly path: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface ReceiverOptions {
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** A developer's server on this machine. It answers 204 until a test changes that. */
export async function startReceiver({ tls }: ReceiverOptions = {}) {
  const received: Received[] = [];
  let answering: RequestListener = (_request, response) => void response.writeHead(204).end();
  const listener: RequestListener = async (request, response) => {
    const body = await textOf(request).catch(() => '');
    received.push({ path: request.url, headers: Object(request.headers), body });
    answering(request, response);
  };
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = Object(server.address());
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    port: Number(port),
    received,
    server,
    answer(listener: RequestListener) {
      answering = listener;
    },
    answerStatus(status: number, headers: Record<string, string> = {}) {
      answering = (_request, response) => void response.writeHead(status, headers).end();
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}

import { once } from 'node:events';
import http from 'node:http';
import { onTestFinished } from 'vitest';

interface Asked {
  readonly port: number;
  readonly method?: string;
  readonly path: string;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: object;
  /** The address of this machine that the request comes from. */
  readonly localAddress?: string;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: http.IncomingHttpHeaders;
}

/** Sends a request on a connection of its own. */
export async function ask({ port, method = 'GET', path, headers, body, localAddress = '127.0.0.1' }: Asked) {
  const text = body && JSON.stringify(body);
  const request = http.request({
    ...{ host: '127.0.0.1', port, method, path, localAddress, agent: false },
    headers: { ...headers, ...(text && { 'content-type': 'application/json' }) },
  });
  request.end(text);
  const [response]: http.IncomingMessage[] = await once(request, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of response ?? []) chunks.push(chunk);
  const answer: Answer = {
    status: response?.statusCode ?? 0,
    body: Buffer.concat(chunks).toString(),
    headers: response?.headers ?? {},
  };
  return answer;
}

/**
 * A proxy that tries these ports in turn. It appends the client's address to `X-Forwarded-For`, goes to the
 * next port where nobody listens, and answers 502 for a lost request. @returns its port, and the port that
 * each request reached
 */
export async function startRoundRobin(ports: readonly number[]) {
  const took = new Map(ports.map((port) => [port, 0]));
  let turn = 0;
  const forward = (
    from: http.IncomingMessage,
    to: http.ServerResponse,
    body: Buffer,
    at: number,
    tries: number,
  ): void => {
    const port = ports[at % ports.length] ?? 0;
    const seen = from.socket.remoteAddress;
    const before = from.headers['x-forwarded-for'];
    const headers = { ...from.headers, 'x-forwarded-for': before ? `${before}, ${seen}` : seen };
    const options = { host: '127.0.0.1', port, method: from.method, path: from.url, headers, agent: false };
    const onward = http.request(options, (answer) => {
      took.set(port, (took.get(port) ?? 0) + 1);
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('error', () => to.destroy()).pipe(to);
    });
    onward.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' && tries > 1) return forward(from, to, body, at + 1, tries - 1);
      to.writeHead(502).end(String(port));
    });
    onward.end(body);
  };
  const proxy = http.createServer(async (from, to) => {
    const chunks: Buffer[] = [];
    for await (const chunk of from) chunks.push(chunk);
    forward(from, to, Buffer.concat(chunks), turn++, ports.length);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());
  const address = proxy.address();
  return { port: typeof address === 'object' && address ? address.port : 0, took };
}

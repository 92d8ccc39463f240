import { once } from 'node:events';
import { createServer } from 'node:http';

const SIGNALS = '/signals';

/** Receives webhooks, and keeps the text of each delivery, by event. Signals have an address of their own. */
export async function startReceiver() {
  const received = new Map<string, string[]>();
  const pushed: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    if (request.url === SIGNALS) {
      pushed.push(text);
      response.writeHead(202).end(); // RFC 8935 §2.2
      return;
    }
    const id = String(request.headers['webhook-id']);
    received.set(id, [...(received.get(id) ?? []), text]);
    response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const stop = async () => {
    server.closeAllConnections();
    server.close();
  };
  const origin = `http://127.0.0.1:${port}`;
  return { url: `${origin}/hooks`, received, signalsUrl: origin + SIGNALS, pushed, stop };
}

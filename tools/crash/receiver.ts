import { once } from 'node:events';
import { createServer } from 'node:http';

/** Receives webhooks, and keeps the text of each delivery, by event. */
export async function startReceiver() {
  const received = new Map<string, string[]>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const id = String(request.headers['webhook-id']);
    received.set(id, [...(received.get(id) ?? []), Buffer.concat(chunks).toString()]);
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
  return { url: `http://127.0.0.1:${port}/hooks`, received, stop };
}

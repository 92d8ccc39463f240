import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { Behest } from '@behest/sdk';
import { BehestWebhookError, constructEvent } from '@behest/sdk/webhooks';
import type { Context } from '../context.ts';

const PATH = '/behest-dev';
const MAX_BYTES = 1_048_576; // more is no delivery of the service

export interface Receiver {
  /** Has the events of an account delivered here. Webhooks of earlier receivers, whose ports are closed, are deleted. */
  follow(client: Behest): Promise<void>;
  close(): void;
}

/** Receives webhooks on this machine, checks each, and prints it. */
export async function openReceiver(context: Context): Promise<Receiver> {
  const secrets: string[] = [];
  const server = createServer(async (request, response) => {
    const status = request.method === 'POST' && request.url === PATH ? await statusOf(request) : 404;
    response.writeHead(status).end();
  });
  async function statusOf(request: IncomingMessage): Promise<number> {
    try {
      const event = constructEvent(await bodyOf(request), request.headers, secrets);
      context.line(`webhook  ${event.type}  ${event.id}  verified`);
      return 204;
    } catch (error) {
      const reason = error instanceof BehestWebhookError ? error.reason : 'unreadable';
      context.line(`webhook  refused: ${reason}`);
      return 400;
    }
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${Object(server.address()).port}${PATH}`;
  return {
    async follow(client) {
      for await (const { webhookId, url: earlier } of client.webhooks.list())
        if (isOfReceiver(earlier)) await client.webhooks.delete(webhookId);
      const { secret } = await client.webhooks.create({ url, events: ['*'] });
      secrets.push(secret);
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const isOfReceiver = (url: string) => /^http:\/\/127\.0\.0\.1:\d+\/behest-dev$/.test(url);

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request) {
    parts.push(Buffer.from(part));
    bytes += parts.at(-1)?.length ?? 0;
    if (bytes > MAX_BYTES) throw new Error('The body is too large.');
  }
  return Buffer.concat(parts);
}

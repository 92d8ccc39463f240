import { createServer, type Server } from 'node:http';
import { type BehestEvent, BehestWebhookError, constructEvent } from '@behest/sdk/webhooks';

export interface Receiver {
  /** The secret of the webhook: `whsec_…`. Two while it is rotated. */
  readonly secret: string | readonly string[];
  /** Whether an event was stored before: a look-up by its id. */
  readonly seen: (eventId: string) => boolean | Promise<boolean>;
  /** Stores an event. Work that takes long comes after the answer. */
  readonly store: (event: BehestEvent) => void | Promise<void>;
}

/** Receives deliveries. The service delivers an event again until it is answered with a 2xx status. */
export function webhookReceiver({ secret, seen, store }: Receiver): Server {
  return createServer(async (request, response) => {
    const answer = (status: number) => void response.writeHead(status).end();
    try {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part);
      const raw = Buffer.concat(parts); // the bytes that were signed: parse nothing before
      await store(await constructEvent(raw, request.headers, secret, { seen }));
      answer(204);
    } catch (error) {
      if (!(error instanceof BehestWebhookError)) return answer(500);
      answer(error.reason === 'repeated' ? 204 : 401);
    }
  });
}

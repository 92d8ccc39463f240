import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';

const TOLERANCE = 300; // seconds

/**
 * Tells whether the service sent a delivery, and sent it now. The headers are those of Standard Webhooks, which
 * libraries in many languages check as well.
 * @param body the received bytes, unparsed
 * @param secret `whsec_…`
 * @throws Error for a secret that is missing or too short
 */
export function isGenuine(headers: IncomingHttpHeaders, body: Buffer, secret: string): boolean {
  const key = keyOf(secret);
  const id = String(headers['webhook-id']);
  const timestamp = String(headers['webhook-timestamp']);
  const age = Date.now() / 1000 - Number(timestamp);
  if (!(Math.abs(age) <= TOLERANCE)) return false; // also refuses a timestamp that is not a number
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  const signatures = String(headers['webhook-signature']).split(' '); // two while the secret is rotated
  return signatures.some((signature) => {
    const given = Buffer.from(signature.replace(/^v1,/, ''), 'base64');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/** @throws Error for an empty secret, as of a variable that is not set: everybody can sign with it */
function keyOf(secret: string): Buffer {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  if (key.length < 24) throw new Error('The secret of the webhook is missing or too short.');
  return key;
}

export interface Event {
  readonly id: string;
  readonly type: string;
  readonly createdAt: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * @param take gets each event once, and resolves when the event is stored. The service delivers it again after an error
 * @throws Error for a secret that is missing or too short
 */
export function receiver(secret: string, take: (event: Event) => Promise<void>): Server {
  keyOf(secret); // now, and not at the first delivery
  const taken = new Set<string>(); // in a program that restarts, a unique key in its database

  return createServer(async (request, response) => {
    const answer = (status: number) => void response.writeHead(status).end();
    try {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part);
      const body = Buffer.concat(parts);
      if (!isGenuine(request.headers, body, secret)) return answer(401);

      const event: Event = JSON.parse(body.toString());
      if (!taken.has(event.id)) await take(event);
      taken.add(event.id);
      answer(204);
    } catch {
      answer(500);
    }
  });
}

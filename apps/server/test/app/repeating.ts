import type { Service } from './start-app.ts';

export interface Sent {
  readonly method?: string;
  readonly url?: string;
  readonly apiKey: string;
  /** Text is sent as it is. */
  readonly body?: object | string | undefined;
  /** Of several, each on a line of its own. */
  readonly key?: string | string[];
}

export const NEW_AGENT = { name: 'Travel booker', description: 'Books.', scopes: ['calendar:read'] };

/** Registers an agent, unless something else is said, with an `Idempotency-Key`. */
export function send({ app }: Pick<Service, 'app'>, sent: Sent) {
  const { method = 'POST', url = '/v1/agents', apiKey, body = NEW_AGENT, key = 'order 66' } = sent;
  return app.inject({
    method: method as 'POST',
    url,
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    payload: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

import type { Service } from './start-app.ts';

export interface Sent {
  readonly method?: string;
  readonly url?: string;
  readonly apiKey: string;
  /** A text is sent as it is. */
  readonly body?: object | string | undefined;
  /** Each of several keys gets a header line. */
  readonly key?: string | string[];
}

export const NEW_AGENT = { name: 'Travel booker', description: 'Books.', scopes: ['calendar:read'] };

/** Sends a request with an `Idempotency-Key`. By default it registers an agent. */
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

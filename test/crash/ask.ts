export interface Account {
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** Sends a request. @returns undefined when the service went away before it answered */
export async function ask(
  { baseUrl, apiKey }: Account,
  method: string,
  path: string,
  body?: object,
  idempotencyKey?: string,
) {
  const headers = {
    authorization: `Bearer ${apiKey}`,
    ...(body && { 'content-type': 'application/json' }),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
  };
  try {
    const answer = await fetch(baseUrl + path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? {} : JSON.parse(text) };
  } catch {
    return undefined;
  }
}

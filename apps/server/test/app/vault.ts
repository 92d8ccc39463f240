import type { Call, Service } from './start-app.ts';

/** The credential in most tests. A test about one of its members sets it. */
export const upstream = { principalId: 'user_42', service: 'github', accessToken: 'upstream-access-1' };

/** Stores a credential of the principal of `grantTo`. @returns the answer's body */
export async function storeCredential(developer: Call, members: object = {}) {
  const answer = await developer('POST', '/v1/vault/credentials', { ...upstream, ...members });
  if (answer.statusCode !== 201) throw new Error(`store: ${answer.body}`);
  return answer.json();
}

/** @param token empty for none */
export const exchange = ({ app }: Service, token: string, body: object = { service: 'github' }) =>
  app.inject({
    method: 'POST',
    url: '/v1/vault/credentials/exchange',
    ...(token && { headers: { authorization: `Bearer ${token}` } }),
    body,
  });

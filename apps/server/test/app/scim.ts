import { expect } from 'vitest';
import { grantTo, registerAgent } from './flow.ts';
import type { Developer, Method, Service } from './start-app.ts';

/** A way to call the SCIM routes as an identity provider of this developer. Paths begin after `/scim/v2`. */
export async function provisionerOf(service: Service, developer: Developer) {
  const { id, token } = (await developer('POST', '/v1/scim/tokens', { label: 'Okta' })).json();
  const call = provisioning(service, String(token));
  return Object.assign(call, { tokenId: String(id), token: String(token) });
}

const provisioning =
  ({ app }: Service, token: string) =>
  (method: Method, path: string, body?: object, headers: Readonly<Record<string, string>> = {}) =>
    app.inject({
      method,
      url: `/scim/v2${path}`,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/scim+json' }),
        ...headers,
      },
      ...(body && { payload: JSON.stringify(body) }),
    });

/** A grant, one delegated from it to another agent, and one from that to a third. */
export async function threeLevels(acme: Developer, principalId: string) {
  const root = await grantTo(acme, { principalId, scopes: ['calendar:read'] });
  const tokens = [root.grantToken];
  const grantIds = [root.grantId];
  for (const name of ['second', 'third']) {
    const { agentId } = await registerAgent(acme, name);
    const body = {
      parentGrantToken: tokens.at(-1),
      subAgentId: agentId,
      scopes: ['calendar:read'],
      expiresIn: '1h',
    };
    const answer = await acme('POST', '/v1/grants/delegate', body);
    expect(answer.statusCode, answer.body).toBe(201);
    tokens.push(answer.json().grantToken);
    grantIds.push(answer.json().grantId);
  }
  return { root, tokens, grantIds };
}

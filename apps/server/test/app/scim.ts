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

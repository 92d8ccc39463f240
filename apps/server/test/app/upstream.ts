import { once } from 'node:events';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';
import { onTestFinished } from 'vitest';

const CLIENT = { client_id: 'behest-test', client_secret: 'secret of the client: +&%' };

/** An authorization server of another party, on this machine, which rotates its refresh tokens. */
export async function startUpstream(
  authMethod: 'client_secret_basic' | 'client_secret_post' | 'none' = 'client_secret_basic',
) {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${Object(server.address()).port}`;
  const { client_secret, ...client } = CLIENT;
  const provider = new Provider(issuer, {
    clients: [
      {
        ...client,
        ...(authMethod !== 'none' && { client_secret }),
        token_endpoint_auth_method: authMethod,
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: ['https://app.test/back'],
      },
    ],
    features: { devInteractions: { enabled: false }, revocation: { enabled: true } },
    rotateRefreshToken: true,
    ttl: { AccessToken: 3600, RefreshToken: 86_400, Grant: 86_400 },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
  });
  const calls: string[] = [];
  const handle = provider.callback();
  server.on('request', (request, response) => {
    calls.push(String(request.url));
    handle(request, response);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });

  /** As after the dance of a person in a browser. @returns the refresh token */
  async function connect(accountId = 'ada'): Promise<string> {
    const found = await provider.Client.find(client.client_id);
    if (!found) throw new Error('The upstream has no client.');
    const grant = new provider.Grant({ accountId, clientId: client.client_id });
    grant.addOIDCScope('openid offline_access');
    const grantId = await grant.save();
    const token = new provider.RefreshToken({
      accountId,
      client: found,
      grantId,
      gty: 'authorization_code',
      scope: 'openid offline_access',
    });
    return token.save();
  }

  return {
    connect,
    calls,
    /** Whether the upstream takes a refresh token still. */
    takes: async (refreshToken: string) => {
      const found = await provider.RefreshToken.find(refreshToken);
      return found?.isValid ?? false;
    },
    accessTokenOf: async (accessToken: string) => provider.AccessToken.find(accessToken),
    refresh: {
      tokenEndpoint: `${issuer}/token`,
      revocationEndpoint: `${issuer}/token/revocation`,
      clientId: client.client_id,
      ...(authMethod !== 'none' && { clientSecret: client_secret }),
      authMethod,
    },
  };
}

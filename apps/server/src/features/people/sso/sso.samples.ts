import { metadataWith, samlKeys } from '../../../../test/app/saml-provider.ts';
import type { Samples } from '../../../../test/app/samples.ts';

const connection = {
  name: 'Okta of the sample',
  protocol: 'oidc',
  issuerUrl: 'https://idp.example',
  clientId: 'client-of-the-sample',
  clientSecret: 'secret-of-the-sample',
};

export const samples: Samples = {
  async possess(developer) {
    const { id } = (await developer('POST', '/v1/sso/connections', connection)).json();
    return { ssoConnectionId: String(id) };
  },
  nobodys: {
    ssoConnectionId: 'sso_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
    ssoSessionId: 'ssosess_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  },
  ways: {
    'GET /v1/sso/connections/:id': { id: 'ssoConnectionId' },
    'PATCH /v1/sso/connections/:id': { id: 'ssoConnectionId', body: () => ({ name: 'Another name' }) },
    'GET /v1/sso/connections/:id/identities': { id: 'ssoConnectionId' },
    'PUT /v1/sso/connections/:id/identities': {
      id: 'ssoConnectionId',
      body: () => ({ principalId: 'user_42', subject: 'https://idp.example|42' }),
    },
    'POST /v1/sso/connections/:id/test': { id: 'ssoConnectionId', body: () => ({}) },
    'DELETE /v1/sso/connections/:id': { id: 'ssoConnectionId' },
  },
  bodies: {
    'POST /v1/sso/connections': connection,
    'POST /v1/sso/metadata': { metadata: metadataWith(samlKeys.idp.cert) },
    'POST /v1/sso/enforce': { enforce: false },
    'POST /v1/sso/config': {
      issuerUrl: 'https://idp.example',
      clientId: 'client-of-the-sample',
      clientSecret: 'secret-of-the-sample',
      redirectUri: 'https://app.example/sso',
    },
  },
  needFullKey: [
    'POST /v1/sso/connections',
    'GET /v1/sso/connections',
    'GET /v1/sso/connections/:id',
    'PATCH /v1/sso/connections/:id',
    'DELETE /v1/sso/connections/:id',
    'POST /v1/sso/connections/:id/test',
    'GET /v1/sso/connections/:id/identities',
    'PUT /v1/sso/connections/:id/identities',
    'POST /v1/sso/metadata',
    'POST /v1/sso/enforce',
    'POST /v1/sso/config',
    'GET /v1/sso/config',
    'DELETE /v1/sso/config',
    'GET /v1/sso/sessions',
    'DELETE /v1/sso/sessions/:id',
  ],
  shownAt: ({ ssoConnectionId }) => ['/v1/sso/connections', `/v1/sso/connections/${ssoConnectionId}`],
};

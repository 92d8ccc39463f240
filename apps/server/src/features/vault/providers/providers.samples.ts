import type { Samples } from '../../../../test/app/samples.ts';

const provider = {
  service: 'files',
  name: 'Files',
  kind: 'oauth2',
  authorizationEndpoint: 'https://files.example/authorize',
  tokenEndpoint: 'https://files.example/token',
  clientId: 'client-of-the-sample',
  clientSecret: 'secret-of-the-sample',
  scopes: { required: ['files:read'] },
};

export const samples: Samples = {
  async possess(developer) {
    await developer('POST', '/v1/vault/providers', provider); // refused where there is one
    const [{ id }] = (await developer('GET', '/v1/vault/providers')).json().providers;
    return { providerId: String(id) };
  },
  nobodys: { providerId: 'prov_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' },
  ways: {
    'GET /v1/vault/providers/:id': { id: 'providerId' },
    'PATCH /v1/vault/providers/:id': { id: 'providerId', body: () => ({ name: 'Other files' }) },
    'POST /v1/vault/providers/:id/discover': { id: 'providerId', body: () => ({}) },
    'DELETE /v1/vault/providers/:id': { id: 'providerId' },
  },
  bodies: { 'POST /v1/vault/providers': { ...provider, service: 'more-files' } },
  needFullKey: [
    'POST /v1/vault/providers',
    'PATCH /v1/vault/providers/:id',
    'POST /v1/vault/providers/:id/discover',
    'DELETE /v1/vault/providers/:id',
  ],
  shownAt: ({ providerId }) => ['/v1/vault/providers', `/v1/vault/providers/${providerId}`],
};

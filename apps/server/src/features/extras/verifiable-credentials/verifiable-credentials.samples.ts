import type { Samples } from '../../../../test/app/samples.ts';

export const samples: Samples = {
  async possess(developer, { grantId }) {
    const { id } = (await developer('POST', '/v1/credentials', { grantId, format: 'vc-jwt' })).json();
    return { verifiableCredentialId: String(id) };
  },
  nobodys: { verifiableCredentialId: 'vc_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' },
  ways: {
    'POST /v1/credentials': { body: ({ grantId }) => ({ grantId, format: 'sd-jwt' }) },
    'GET /v1/credentials/:id': { id: 'verifiableCredentialId' },
    'POST /v1/credentials/:id/revoke': { id: 'verifiableCredentialId', body: () => ({}) },
  },
  bodies: {
    'POST /v1/credentials/verify': { credential: 'x' },
    'POST /v1/credentials/present': { sdJwt: 'x' },
  },
  shownAt: ({ verifiableCredentialId }) => ['/v1/credentials', `/v1/credentials/${verifiableCredentialId}`],
};

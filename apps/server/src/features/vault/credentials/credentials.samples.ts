import type { Samples } from '../../../../test/app/samples.ts';

const credential = { principalId: 'user_42', service: 'github', accessToken: 'upstream-of-the-sample' };

export const samples: Samples = {
  async possess(developer) {
    const { id } = (await developer('POST', '/v1/vault/credentials', credential)).json();
    return { credentialId: String(id) };
  },
  nobodys: { credentialId: 'vault_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' },
  ways: {
    'GET /v1/vault/credentials/:id': { id: 'credentialId' },
    'DELETE /v1/vault/credentials/:id': { id: 'credentialId' },
  },
  bodies: {
    'POST /v1/vault/credentials': credential,
    'POST /v1/vault/credentials/exchange': { service: 'github' },
  },
  shownAt: ({ credentialId }) => ['/v1/vault/credentials', `/v1/vault/credentials/${credentialId}`],
};

import type { Samples } from '../../../../test/app/samples.ts';

export const samples: Samples = {
  async possess(developer) {
    const { id, token } = (await developer('POST', '/v1/scim/tokens', { label: 'Okta' })).json();
    return { scimTokenId: String(id), scimToken: String(token) };
  },
  nobodys: { scimTokenId: 'scimtok_01K9Z3QW5M8T2V4X6Y7Z8A9B0C', scimToken: `bh_scim_${'A'.repeat(43)}` },
  ways: { 'DELETE /v1/scim/tokens/:id': { id: 'scimTokenId' } },
  bodies: { 'POST /v1/scim/tokens': { label: 'Entra ID' } },
  needFullKey: ['POST /v1/scim/tokens', 'GET /v1/scim/tokens', 'DELETE /v1/scim/tokens/:id'],
  shownAt: () => ['/v1/scim/tokens'],
};

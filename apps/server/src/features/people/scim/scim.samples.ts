import type { Samples } from '../../../../test/app/samples.ts';

export const samples: Samples = {
  async possess(developer) {
    const { id, token } = (await developer('POST', '/v1/scim/tokens', { label: 'Okta' })).json();
    const idp = developer.withToken(String(token));
    const user = { userName: 'grace@acme.test', externalId: '00u1', emails: [{ value: 'grace@acme.test' }] };
    const { id: scimUserId } = (await idp('POST', '/scim/v2/Users', user)).json();
    const group = { displayName: 'Admirals', externalId: '00g1', members: [{ value: scimUserId }] };
    const { id: scimGroupId } = (await idp('POST', '/scim/v2/Groups', group)).json();
    return {
      scimTokenId: String(id),
      scimToken: String(token),
      scimUserId: String(scimUserId),
      scimGroupId: String(scimGroupId),
    };
  },
  nobodys: {
    scimTokenId: 'scimtok_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
    scimToken: `bh_scim_${'A'.repeat(43)}`,
    scimUserId: 'scimuser_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
    scimGroupId: 'scimgrp_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  },
  ways: { 'DELETE /v1/scim/tokens/:id': { id: 'scimTokenId' } },
  bodies: { 'POST /v1/scim/tokens': { label: 'Entra ID' } },
  needFullKey: ['POST /v1/scim/tokens', 'GET /v1/scim/tokens', 'DELETE /v1/scim/tokens/:id'],
  shownAt: () => ['/v1/scim/tokens'],
};

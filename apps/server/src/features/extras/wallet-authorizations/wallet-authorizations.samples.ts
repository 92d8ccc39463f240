import type { Samples } from '../../../../test/app/samples.ts';

const PAYMENT = {
  account: 'eip155:1:0xab16a96D359eC26a11e2C2b3d8f8B8942d5Bfcdb',
  maxAmount: { amount: '5', asset: 'usdc' },
};

export const samples: Samples = {
  async possess(developer, { agentId }) {
    const asked = { agentId, principalId: 'user_42', scopes: ['wallet:authorize'] };
    const { code } = (await developer('POST', '/v1/authorize', asked)).json();
    const { grantId } = (await developer('POST', '/v1/token', { code, agentId })).json();
    const body = { grantId, ...PAYMENT };
    const { id } = (await developer('POST', '/v1/wallet/authorizations', body)).json();
    return { walletAuthorizationId: String(id), walletGrantId: String(grantId) };
  },
  nobodys: {
    walletAuthorizationId: 'wal_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
    walletGrantId: 'grnt_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  },
  ways: {
    'POST /v1/wallet/authorizations': {
      body: ({ walletGrantId }) => ({ grantId: walletGrantId, ...PAYMENT }),
    },
    'GET /v1/wallet/authorizations/:id': { id: 'walletAuthorizationId' },
    'POST /v1/wallet/authorizations/:id/revoke': { id: 'walletAuthorizationId' },
    'POST /v1/wallet/authorizations/:id/consume': { id: 'walletAuthorizationId' },
  },
  bodies: { 'POST /v1/wallet/authorizations/verify': { authorization: 'x' } },
  shownAt: ({ walletAuthorizationId }) => [
    '/v1/wallet/authorizations',
    `/v1/wallet/authorizations/${walletAuthorizationId}`,
  ],
};

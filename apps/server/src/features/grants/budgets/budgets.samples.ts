import { authorize } from '../../../../test/app/flow.ts';
import type { Samples } from '../../../../test/app/samples.ts';

export const samples: Samples = {
  async possess(developer, { agentId = '', grantId }) {
    await developer('POST', '/v1/budget/allocate', { grantId, initialBudget: '100' });
    const { transactionId } = (
      await developer('POST', '/v1/budget/debit', { grantId, amount: '0.5' })
    ).json();
    const { code } = await authorize(developer, agentId);
    const unfunded = (await developer('POST', '/v1/token', { code, agentId })).json();
    return { transactionId: String(transactionId), unfundedGrantId: String(unfunded.grantId) };
  },
  nobodys: {
    transactionId: 'btx_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
    unfundedGrantId: 'grnt_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  },
  ways: {
    'POST /v1/budget/allocate': {
      body: ({ unfundedGrantId }) => ({ grantId: unfundedGrantId, initialBudget: '100' }),
    },
    'POST /v1/budget/debit': { body: ({ grantId }) => ({ grantId, amount: '0.5' }) },
    'POST /v1/budget/refund': { body: ({ transactionId }) => ({ transactionId, amount: '0.1' }) },
    'GET /v1/budget/balance/:grantId': {},
    'GET /v1/budget/transactions/:grantId': {},
  },
  shownAt: ({ grantId }) => [
    '/v1/budget/allocations',
    `/v1/budget/balance/${grantId}`,
    `/v1/budget/transactions/${grantId}`,
  ],
};

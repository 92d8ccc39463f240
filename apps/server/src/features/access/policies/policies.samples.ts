import type { Samples } from '../../../../test/app/samples.ts';

/** Matches nobody else's requests. */
const policy = { name: 'No payments', effect: 'deny', principalId: 'nobody', scopes: ['payments:*'] };
const question = { agentId: 'ag_1', principalId: 'user_42', scopes: ['calendar:read'] };

export const samples: Samples = {
  async possess(developer) {
    const { id } = (await developer('POST', '/v1/policies', policy)).json();
    return { policyId: String(id) };
  },
  nobodys: { policyId: 'pol_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' },
  ways: {
    'POST /v1/policies': { body: ({ agentId }) => ({ ...policy, agentId }) },
    'POST /v1/policies/evaluate': { body: ({ agentId }) => ({ ...question, agentId }) },
    'GET /v1/policies/:id': { id: 'policyId' },
    'PATCH /v1/policies/:id': { id: 'policyId', body: () => ({ priority: 7 }) },
    'DELETE /v1/policies/:id': { id: 'policyId' },
  },
  bodies: { 'POST /v1/policies': policy, 'POST /v1/policies/evaluate': question },
  needFullKey: [
    'POST /v1/policies',
    'GET /v1/policies',
    'GET /v1/policies/:id',
    'PATCH /v1/policies/:id',
    'DELETE /v1/policies/:id',
    'POST /v1/policies/evaluate',
  ],
  shownAt: ({ policyId }) => ['/v1/policies', `/v1/policies/${policyId}`],
};

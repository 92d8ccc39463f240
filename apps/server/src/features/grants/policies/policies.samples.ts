import type { Samples } from '../../../../test/app/samples.ts';

/** Matches nobody else's requests. */
const policy = { name: 'No payments', effect: 'deny', principalId: 'nobody', scopes: ['payments:*'] };
const question = { agentId: 'ag_1', principalId: 'user_42', scopes: ['calendar:read'] };

const replay = { candidate: policy, since: '2025-12-20T00:00:00Z', until: '2026-01-10T00:00:00Z' };

export const samples: Samples = {
  async possess(developer) {
    const { id } = (await developer('POST', '/v1/policies', policy)).json();
    return { policyId: String(id) };
  },
  nobodys: { policyId: 'pol_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' },
  ways: {
    'GET /v1/policies/:id': { id: 'policyId' },
    'GET /v1/policies/:id/versions': { id: 'policyId' },
    'PATCH /v1/policies/:id': { id: 'policyId', body: () => ({ priority: 7 }) },
    'DELETE /v1/policies/:id': { id: 'policyId' },
  },
  bodies: {
    'POST /v1/policies': policy,
    'POST /v1/policies/evaluate': question,
    'POST /v1/policies/replay': replay,
  },
  needFullKey: [
    'POST /v1/policies',
    'GET /v1/policies',
    'GET /v1/policies/:id',
    'GET /v1/policies/:id/versions',
    'PATCH /v1/policies/:id',
    'DELETE /v1/policies/:id',
    'POST /v1/policies/evaluate',
    'POST /v1/policies/replay',
  ],
  shownAt: ({ policyId }) => [
    '/v1/policies',
    `/v1/policies/${policyId}`,
    `/v1/policies/${policyId}/versions`,
  ],
};

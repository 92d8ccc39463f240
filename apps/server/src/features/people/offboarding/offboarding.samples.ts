import type { Samples } from '../../../../test/app/samples.ts';

export const samples: Samples = {
  possess: async () => ({ principalId: 'user_42' }),
  nobodys: { principalId: 'nobody' },
  ways: { 'GET /v1/agents/:id/offboarding': { id: 'agentId' } },
  bodies: { 'POST /v1/principals/:principalId/offboard': { keepCredentials: true } },
  needFullKey: [
    'GET /v1/principals',
    'GET /v1/principals/:principalId',
    'POST /v1/principals/:principalId/offboard',
    'GET /v1/principals/:principalId/offboarding',
    'DELETE /v1/principals/:principalId/offboarding',
    'GET /v1/agents/:id/offboarding',
  ],
};

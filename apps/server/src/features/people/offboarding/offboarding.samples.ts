import type { Samples } from '../../../../test/app/samples.ts';

export const samples: Samples = {
  possess: async () => ({ principalId: 'user_42' }),
  nobodys: { principalId: 'nobody' },
  bodies: { 'POST /v1/principals/:principalId/offboard': { keepCredentials: true } },
  needFullKey: [
    'GET /v1/principals',
    'GET /v1/principals/:principalId',
    'POST /v1/principals/:principalId/offboard',
  ],
};

import type { Samples } from '../../../../test/app/samples.ts';

export const samples: Samples = {
  ways: {
    'PUT /v1/sso/connections/:id/signals': { id: 'ssoConnectionId', body: () => ({}) },
    'GET /v1/sso/connections/:id/signals': { id: 'ssoConnectionId' },
    'DELETE /v1/sso/connections/:id/signals': { id: 'ssoConnectionId' },
  },
  needFullKey: [
    'PUT /v1/sso/connections/:id/signals',
    'GET /v1/sso/connections/:id/signals',
    'DELETE /v1/sso/connections/:id/signals',
  ],
  askOutside: ['PUT /v1/sso/connections/:id/signals'],
};

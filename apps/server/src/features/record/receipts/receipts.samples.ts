import type { Samples } from '../../../../test/app/samples.ts';

export const samples: Samples = {
  ways: { 'GET /v1/grants/:id/receipt': { id: 'grantId' } },
  needFullKey: ['GET /v1/grants/:id/receipt'],
};

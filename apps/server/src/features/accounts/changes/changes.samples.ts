import type { Samples } from '../../../../test/app/samples.ts';

export const samples: Samples = {
  needFullKey: ['GET /v1/changes', 'GET /v1/changes/:id', 'DELETE /v1/changes/:id'],
};

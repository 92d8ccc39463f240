import type { Samples } from '../../../../test/app/samples.ts';

export const samples: Samples = {
  needFullKey: [
    'GET /v1/compliance/summary',
    'GET /v1/compliance/export/grants',
    'GET /v1/compliance/export/audit',
    'GET /v1/compliance/evidence-pack',
  ],
};

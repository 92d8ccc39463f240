import type { Samples } from '../../../../test/app/samples.ts';

export const samples: Samples = { needFullKey: ['GET /v1/insights/series', 'GET /v1/insights/denials'] };

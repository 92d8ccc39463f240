import type { Samples } from '../../../../test/app/samples.ts';

export const samples: Samples = {
  bodies: { 'POST /v1/signup/verify': { email: 'ada@acme.test' } },
  needFullKey: ['POST /v1/signup/verify'],
};

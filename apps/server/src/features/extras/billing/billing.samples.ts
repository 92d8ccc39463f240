import type { Samples } from '../../../../test/app/samples.ts';

const url = 'https://app.acme.test/billing';

export const samples: Samples = {
  bodies: {
    'POST /v1/billing/checkout': { plan: 'pro', successUrl: url, cancelUrl: url },
    'POST /v1/billing/portal': { returnUrl: url },
    'POST /v1/billing/webhook': {},
  },
  askOutside: ['POST /v1/billing/checkout', 'POST /v1/billing/portal'],
  needFullKey: ['GET /v1/billing/subscription', 'POST /v1/billing/checkout', 'POST /v1/billing/portal'],
};

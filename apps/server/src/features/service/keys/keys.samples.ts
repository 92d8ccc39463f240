import type { Samples } from '../../../../test/app/samples.ts';

export const samples: Samples = {
  possess: async () => ({ kid: `service-es256-${'A'.repeat(43)}` }),
  nobodys: { kid: `service-es256-${'A'.repeat(43)}` },
};

import type { Samples } from '../../../../test/app/samples.ts';

export const samples: Samples = {
  async possess(developer) {
    return { logId: String((await developer('GET', '/v1/transparency')).json().logId) };
  },
  nobodys: { logId: 'f'.repeat(32) },
};

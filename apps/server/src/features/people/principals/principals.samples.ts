import { openSession } from '../../../../test/app/flow.ts';
import type { Samples } from '../../../../test/app/samples.ts';

export const samples: Samples = {
  async possess(developer) {
    const { sessionToken } = (await openSession(developer)).json();
    return { sessionToken: String(sessionToken) };
  },
  nobodys: { sessionToken: 'e30.e30.e30' },
  bodies: { 'POST /v1/principal-sessions': { principalId: 'user_42', expiresIn: '1h' } },
  needFullKey: ['POST /v1/principal-sessions', 'DELETE /v1/principal-addresses/:id'],
};

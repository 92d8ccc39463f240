import { authorize } from '../../../../test/app/flow.ts';
import type { Samples } from '../../../../test/app/samples.ts';

export const samples: Samples = {
  async possess(developer, { agentId = '' }) {
    const { authRequestId } = await authorize(developer, agentId, { autoApprove: false });
    const { code } = await authorize(developer, agentId);
    return { authRequestId, code };
  },
  nobodys: { authRequestId: 'areq_01K9Z3QW5M8T2V4X6Y7Z8A9B0C', code: 'x'.repeat(43) },
  ways: {
    'POST /v1/authorize': {
      body: ({ agentId }) => ({ agentId, principalId: 'user_42', scopes: ['calendar:read'] }),
    },
    'GET /v1/authorize/:id': { id: 'authRequestId' },
    'DELETE /v1/authorize/:id': { id: 'authRequestId' },
    'POST /v1/authorize/:id/approve': { id: 'authRequestId' },
    'POST /v1/authorize/:id/deny': { id: 'authRequestId' },
    'POST /v1/authorize/:id/code': { id: 'authRequestId' },
    'POST /v1/authorize/:id/link': { id: 'authRequestId' },
  },
  needFullKey: ['POST /v1/authorize/:id/link'],
  shownAt: ({ authRequestId }) => [`/v1/authorize/${authRequestId}`],
};

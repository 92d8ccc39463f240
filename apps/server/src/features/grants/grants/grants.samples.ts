import { authorize } from '../../../../test/app/flow.ts';
import type { Samples } from '../../../../test/app/samples.ts';

export const samples: Samples = {
  async possess(developer, { agentId = '' }) {
    const { code } = await authorize(developer, agentId);
    const { grantId } = (await developer('POST', '/v1/token', { code, agentId })).json();
    await developer('DELETE', `/v1/grants/${grantId}?wait=confirmed`);
    return { statedGrantId: String(grantId) };
  },
  nobodys: {
    grantId: 'grnt_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
    statedGrantId: 'grnt_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  },
  ways: {
    'GET /v1/grants/:id': { id: 'grantId' },
    'GET /v1/grants/:id/revocation': { id: 'statedGrantId' },
    'GET /v1/grants/:id/tokens': { id: 'grantId' },
    'DELETE /v1/grants/:id': { id: 'grantId' },
  },
  needFullKey: ['GET /v1/stops/preview'],
  shownAt: ({ grantId }) => [`/v1/grants/${grantId}`, `/v1/grants/${grantId}/tokens`],
};

import type { Samples } from '../../../../test/app/samples.ts';

const AGENT = 'ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C';

export const samples: Samples = {
  async possess(developer) {
    const { requestId } = (await developer('GET', `/v1/agents/${AGENT}`)).json();
    return { requestId };
  },
  nobodys: { requestId: '00000000-0000-4000-8000-000000000000' },
  ways: { 'GET /v1/requests/:requestId': {} },
  needFullKey: ['GET /v1/requests', 'GET /v1/requests/groups', 'GET /v1/requests/:requestId'],
};

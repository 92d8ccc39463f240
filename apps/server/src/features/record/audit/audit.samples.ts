import type { Samples } from '../../../../test/app/samples.ts';

export const samples: Samples = {
  async possess(developer) {
    const { entries } = (await developer('GET', '/v1/audit/entries?limit=1')).json();
    return { entryId: String(entries[0].entryId) };
  },
  nobodys: { entryId: 'alog_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' },
  ways: {
    'GET /v1/audit/:id': { id: 'entryId' },
    'POST /v1/audit/log': {
      body: ({ agentId, did, grantId }) => ({
        agentId,
        agentDid: did,
        grantId,
        principalId: 'user_42',
        action: 'flight.booked',
      }),
    },
  },
};

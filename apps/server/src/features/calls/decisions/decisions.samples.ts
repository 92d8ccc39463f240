import type { Samples } from '../../../../test/app/samples.ts';

const call = { connector: 'acme_mail', tool: 'wipe_mail', arguments: { folder: 'spam' } };
const { arguments: args, ...tool } = call;
const action = { v: 1, ...tool, arguments: args, case_id: null, case_version: null, decision: null };
const use = { decisionGrants: ['e30.e30.e30'], action, caseVersion: null, callId: 'call-of-the-samples' };
const channel = { kind: 'slack', name: 'Finance', url: 'https://hooks.example.org/services/secret' };

export const samples: Samples = {
  async possess(developer, { grantToken }) {
    const { id } = (await developer('POST', '/v1/decision-channels', channel)).json();
    const { decisionId } = (await developer('POST', '/v1/decisions', { ...call, grantToken })).json();
    await developer('PUT', '/v1/decisions/cases/case-of-the-samples', { caseVersion: '1' });
    return { decisionId, decisionChannelId: id, caseName: 'case-of-the-samples' };
  },
  nobodys: {
    decisionId: 'dec_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
    decisionChannelId: 'dchan_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
    caseName: 'nobodys-case',
  },
  ways: {
    // Another call than the one that is already asked about.
    'POST /v1/decisions': {
      body: ({ grantToken }) => ({ ...call, arguments: { folder: 'old' }, grantToken }),
    },
    'GET /v1/decisions/:id': { id: 'decisionId' },
    'POST /v1/decisions/:id/cancel': { id: 'decisionId' },
    'POST /v1/decisions/:id/grants': { id: 'decisionId', body: ({ grantToken }) => ({ grantToken }) },
    'POST /v1/decisions/consume': { body: ({ grantToken }) => ({ ...use, grantToken }) },
    'DELETE /v1/decision-channels/:id': { id: 'decisionChannelId' },
  },
  bodies: {
    'POST /v1/decision-channels': channel,
    'PUT /v1/decisions/cases/:caseName': { caseVersion: '2' },
  },
  needFullKey: [
    'POST /v1/decision-channels',
    'GET /v1/decision-channels',
    'DELETE /v1/decision-channels/:id',
  ],
  shownAt: ({ decisionId }) => [`/v1/decisions/${decisionId}`, '/v1/decisions', '/v1/decision-channels'],
};

import type { Samples } from '../../../../test/app/samples.ts';

const session = { service: 'files', principalId: 'user_42' };

export const samples: Samples = {
  async possess(developer) {
    const { id } = (await developer('POST', '/v1/vault/connect-sessions', session)).json();
    return { connectSessionId: String(id) };
  },
  nobodys: { connectSessionId: 'conn_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' },
  ways: {
    'POST /v1/vault/connect-sessions': { body: ({ agentId }) => ({ ...session, agentId }) },
    'GET /v1/vault/connect-sessions/:id': { id: 'connectSessionId' },
    'DELETE /v1/vault/connect-sessions/:id': { id: 'connectSessionId' },
  },
  bodies: {
    'POST /v1/vault/credentials/connect': { service: 'files' },
    'POST /v1/principal/connections': { service: 'files' },
  },
};

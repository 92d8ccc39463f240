import type { Samples } from '../../../../test/app/samples.ts';

const settings = { redirectUris: ['https://client.test/cb'], authMethod: 'client_secret_basic' };

export const samples: Samples = {
  async possess(developer, { agentId }) {
    await developer('PUT', `/v1/agents/${agentId}/oauth`, settings);
    return {};
  },
  ways: {
    'PUT /v1/agents/:id/oauth': { id: 'agentId', body: () => settings },
    'GET /v1/agents/:id/oauth': { id: 'agentId' },
    'DELETE /v1/agents/:id/oauth': { id: 'agentId' },
  },
  bodies: { 'PUT /v1/agents/:id/oauth': settings },
  needFullKey: ['PUT /v1/agents/:id/oauth', 'GET /v1/agents/:id/oauth', 'DELETE /v1/agents/:id/oauth'],
  shownAt: ({ agentId }) => [`/v1/agents/${agentId}/oauth`],
};

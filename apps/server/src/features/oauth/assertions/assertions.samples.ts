import type { Samples } from '../../../../test/app/samples.ts';

const rule = (clientId: unknown) => ({ clientId, scopes: ['calendar:read'] });
const trust = { enabled: false };

export const samples: Samples = {
  async possess(developer, { ssoConnectionId }) {
    const { agentId } = (await developer('POST', '/v1/agents', { name: 'Asserted' })).json();
    const settings = { redirectUris: ['https://client.test/cb'], authMethod: 'client_secret_basic' };
    await developer('PUT', `/v1/agents/${agentId}/oauth`, settings);
    await developer('PUT', `/v1/sso/connections/${ssoConnectionId}/id-jag`, trust);
    const path = `/v1/sso/connections/${ssoConnectionId}/clients`;
    const { id } = (await developer('POST', path, rule(agentId))).json();
    const other = (await developer('POST', '/v1/agents', { name: 'Asserted later' })).json().agentId;
    await developer('PUT', `/v1/agents/${other}/oauth`, settings);
    return { clientRuleId: String(id), assertedAgentId: String(other) };
  },
  nobodys: {
    assertedAgentId: 'ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
    clientRuleId: 'idc_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
    stopId: 'ids_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  },
  ways: {
    'PUT /v1/sso/connections/:id/id-jag': { id: 'ssoConnectionId', body: () => trust },
    'GET /v1/sso/connections/:id/id-jag': { id: 'ssoConnectionId' },
    'DELETE /v1/sso/connections/:id/id-jag': { id: 'ssoConnectionId' },
    'POST /v1/sso/connections/:id/clients': {
      id: 'ssoConnectionId',
      body: ({ assertedAgentId }) => rule(assertedAgentId),
    },
    'GET /v1/sso/connections/:id/clients': { id: 'ssoConnectionId' },
    'GET /v1/sso/connections/:id/clients/:clientRuleId': { id: 'ssoConnectionId' },
    'PATCH /v1/sso/connections/:id/clients/:clientRuleId': {
      id: 'ssoConnectionId',
      body: () => ({ allowPublic: true }),
    },
    'DELETE /v1/sso/connections/:id/clients/:clientRuleId': { id: 'ssoConnectionId' },
  },
  bodies: {
    'PUT /v1/sso/connections/:id/id-jag': trust,
    'POST /v1/sso/connections/:id/clients': rule('ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C'),
  },
  needFullKey: [
    'PUT /v1/sso/connections/:id/id-jag',
    'GET /v1/sso/connections/:id/id-jag',
    'DELETE /v1/sso/connections/:id/id-jag',
    'POST /v1/sso/connections/:id/clients',
    'GET /v1/sso/connections/:id/clients',
    'GET /v1/sso/connections/:id/clients/:clientRuleId',
    'PATCH /v1/sso/connections/:id/clients/:clientRuleId',
    'DELETE /v1/sso/connections/:id/clients/:clientRuleId',
    'GET /v1/sso/id-jag/stops',
    'DELETE /v1/sso/id-jag/stops/:id',
  ],
  shownAt: ({ ssoConnectionId, clientRuleId }) => [
    `/v1/sso/connections/${ssoConnectionId}/clients`,
    `/v1/sso/connections/${ssoConnectionId}/clients/${clientRuleId}`,
  ],
};

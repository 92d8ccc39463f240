import type { Samples } from '../../../../test/app/samples.ts';

const workload = {
  issuer: 'spiffe://acme.example',
  jwksUri: 'https://acme.example/bundle',
  subject: 'spiffe://acme.example/agents/*',
};

export const samples: Samples = {
  async possess(developer, { agentId }) {
    const { id } = (await developer('POST', `/v1/agents/${agentId}/workloads`, workload)).json();
    return { workloadId: String(id) };
  },
  ways: {
    'POST /v1/agents/:id/workloads': { id: 'agentId', body: () => workload },
    'GET /v1/agents/:id/workloads': { id: 'agentId' },
    'DELETE /v1/agents/:id/workloads/:workloadId': { id: 'agentId' },
  },
  nobodys: { workloadId: 'wli_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' },
  bodies: { 'POST /v1/agents/:id/workloads': workload },
  needFullKey: [
    'POST /v1/agents/:id/workloads',
    'GET /v1/agents/:id/workloads',
    'DELETE /v1/agents/:id/workloads/:workloadId',
  ],
  shownAt: ({ agentId }) => [`/v1/agents/${agentId}/workloads`],
};

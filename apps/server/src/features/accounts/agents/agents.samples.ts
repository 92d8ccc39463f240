import { grantTo, partsOf } from '../../../../test/app/flow.ts';
import type { Samples } from '../../../../test/app/samples.ts';

/** The tool is one of the manifest of the samples. */
const scopes = ['calendar:read', 'email:send', 'tool:acme_mail:write'];

/** An agent comes with a grant and its tokens, which the other nouns build on. */
export const samples: Samples = {
  async possess(developer) {
    const { agentId, did, grantId, grantToken, refreshToken } = await grantTo(developer, { scopes });
    const tokenId = String(partsOf(grantToken).payload.jti);
    return { agentId, did, grantId, grantToken, refreshToken, tokenId };
  },
  nobodys: {
    agentId: 'ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
    did: 'did:web:auth.test:agents:ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  },
  ways: {
    'GET /v1/agents/:id': { id: 'agentId' },
    'PATCH /v1/agents/:id': { id: 'agentId', body: () => ({ name: 'Taken over' }) },
    'DELETE /v1/agents/:id': { id: 'agentId' },
  },
  bodies: {
    'POST /v1/agents': { name: 'Travel booker', description: 'Books.', scopes: ['calendar:read'] },
  },
  needFullKey: ['POST /v1/agents', 'PATCH /v1/agents/:id', 'DELETE /v1/agents/:id'],
  shownAt: ({ agentId }) => [`/v1/agents/${agentId}`],
};

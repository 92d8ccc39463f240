import type { Samples } from '../../../../test/app/samples.ts';

export const samples: Samples = {
  nobodys: {
    grantToken: 'e30.e30.e30',
    refreshToken: `ref_${'x'.repeat(43)}`,
    tokenId: 'tok_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  },
  ways: {
    'POST /v1/token': { body: ({ code, agentId }) => ({ code, agentId }) },
    'POST /v1/token/refresh': { body: ({ refreshToken, agentId }) => ({ refreshToken, agentId }) },
    'POST /v1/tokens/verify': { body: ({ grantToken }) => ({ token: grantToken }) },
    'POST /v1/tokens/introspect': { body: ({ grantToken }) => ({ token: grantToken }) },
    'POST /v1/tokens/revoke': { body: ({ tokenId }) => ({ jti: tokenId }) },
    'POST /v1/grants/verify': { body: ({ grantToken }) => ({ token: grantToken }) },
    'POST /v1/grants/delegate': {
      body: ({ grantToken, agentId }) => ({
        parentGrantToken: grantToken,
        subAgentId: agentId,
        scopes: ['calendar:read'],
      }),
    },
  },
};

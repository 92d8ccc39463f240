import type { Samples } from '../../../../test/app/samples.ts';

const link = { name: 'Acme', purposes: ['sso'] };

export const samples: Samples = {
  async possess(developer) {
    const { id } = (await developer('POST', '/v1/sso/setup-links', link)).json();
    return { setupId: String(id) };
  },
  nobodys: { setupId: 'setup_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' },
  ways: {
    'POST /v1/sso/setup-links': {
      body: ({ ssoConnectionId }) => ({ ...link, connectionId: ssoConnectionId }),
    },
    'DELETE /v1/sso/setup-links/:id': { id: 'setupId' },
  },
  needFullKey: ['POST /v1/sso/setup-links', 'GET /v1/sso/setup-links', 'DELETE /v1/sso/setup-links/:id'],
  shownAt: () => ['/v1/sso/setup-links'],
};

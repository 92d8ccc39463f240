import type { Samples } from '../../../../test/app/samples.ts';

let made = 0;

export const samples: Samples = {
  async possess(developer) {
    made += 1;
    const { id, verificationToken } = (
      await developer('POST', '/v1/domains', { domain: `d${made}.acme.test` })
    ).json();
    return { domainId: String(id), verificationToken: String(verificationToken) };
  },
  nobodys: { domainId: 'dom_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' },
  ways: {
    'GET /v1/domains/:id': { id: 'domainId' },
    'POST /v1/domains/:id/verify': { id: 'domainId', body: () => ({}) },
    'DELETE /v1/domains/:id': { id: 'domainId' },
  },
  bodies: { 'POST /v1/domains': { domain: 'new.acme.test' } },
  needFullKey: [
    'POST /v1/domains',
    'GET /v1/domains',
    'GET /v1/domains/:id',
    'POST /v1/domains/:id/verify',
    'DELETE /v1/domains/:id',
  ],
  shownAt: ({ domainId }) => ['/v1/domains', `/v1/domains/${domainId}`],
};

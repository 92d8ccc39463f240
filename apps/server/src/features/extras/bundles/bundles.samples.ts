import type { Samples } from '../../../../test/app/samples.ts';

const content = Buffer.from('package behest.authz').toString('base64');
const bundle = { format: 'rego', version: '1.0.0', content };

export const samples: Samples = {
  async possess(developer) {
    const { bundleId } = (
      await developer('POST', '/v1/policies/sync', { ...bundle, activate: false })
    ).json();
    await developer('POST', '/v1/policies/sync/secret');
    return { bundleId: String(bundleId) };
  },
  nobodys: { bundleId: 'pbnd_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' },
  ways: {
    'GET /v1/policies/bundles/:id/content': { id: 'bundleId' },
    'POST /v1/policies/bundles/:id/activate': { id: 'bundleId' },
    'DELETE /v1/policies/bundles/:id': { id: 'bundleId' },
  },
  bodies: {
    'POST /v1/policies/sync': { ...bundle, version: '1.0.1' },
    'POST /v1/policies/sync/secret': {},
    'POST /v1/policies/sync/webhook': {},
  },
  needFullKey: [
    'POST /v1/policies/sync',
    'GET /v1/policies/bundles',
    'GET /v1/policies/bundles/active',
    'GET /v1/policies/bundles/:id/content',
    'POST /v1/policies/bundles/:id/activate',
    'DELETE /v1/policies/bundles/:id',
    'POST /v1/policies/sync/secret',
  ],
  shownAt: () => ['/v1/policies/bundles'],
};

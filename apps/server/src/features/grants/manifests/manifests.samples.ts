import type { Samples } from '../../../../test/app/samples.ts';

const manifest = {
  $schema: 'https://behest.dev/schemas/manifest-0.6.json',
  connector: 'acme_mail',
  tools: {
    list_mail: 'read',
    send_mail: { permission: 'write', caps: { per_day: 100 } },
    wipe_mail: { permission: 'write', requires_decision: true },
  },
};

export const samples: Samples = {
  async possess(developer) {
    await developer('PUT', '/v1/manifests/acme_mail', manifest);
    return { connector: 'acme_mail' };
  },
  nobodys: { connector: 'nobodys_mail' },
  ways: {},
  bodies: { 'PUT /v1/manifests/:connector': manifest },
  needFullKey: [
    'GET /v1/manifests/:connector/versions',
    'PUT /v1/manifests/:connector',
    'DELETE /v1/manifests/:connector',
  ],
  shownAt: () => ['/v1/manifests', '/v1/manifests/acme_mail', '/v1/manifests/acme_mail/versions'],
};

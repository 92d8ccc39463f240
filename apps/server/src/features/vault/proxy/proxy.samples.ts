import type { Samples } from '../../../../test/app/samples.ts';

const profile = {
  upstreams: { api: 'https://api.upstream.example' },
  inject: { style: 'bearer' },
  rules: [{ id: 'read', methods: ['GET', 'HEAD'], path: '/repos/{rest+}', unmapped: true }],
};

export const samples: Samples = {
  async possess(developer) {
    await developer('PUT', '/v1/vault/proxy-profiles/upstream', profile);
    return { service: 'upstream', path: 'repos' };
  },
  nobodys: { service: 'nobodys', path: 'repos' },
  ways: {},
  bodies: { 'PUT /v1/vault/proxy-profiles/:service': profile },
  needFullKey: ['PUT /v1/vault/proxy-profiles/:service', 'DELETE /v1/vault/proxy-profiles/:service'],
  shownAt: () => ['/v1/vault/proxy-profiles', '/v1/vault/proxy-profiles/upstream', '/v1/vault/proxy/calls'],
};

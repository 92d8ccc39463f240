import type { Samples } from '../../../../test/app/samples.ts';

export const samples: Samples = {
  async possess(developer) {
    const { keyId } = (await developer('POST', '/v1/keys', { name: 'spare', role: 'runtime' })).json();
    return { keyId };
  },
  nobodys: { keyId: 'key_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' },
  ways: { 'DELETE /v1/keys/:id': { id: 'keyId' } },
  bodies: {
    'POST /v1/signup': { name: 'Acme', email: 'a@acme.test' },
    'POST /v1/keys': { name: 'backend', role: 'runtime', expiresIn: '1d' },
    'POST /v1/keys/rotate': { name: 'backend', graceSeconds: 300 },
    'POST /v1/me/close': { confirm: 'dev_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' },
    'POST /v1/me/stop': { reason: 'The host of the agents was broken into.' },
    'POST /v1/me/resume': {},
    'PATCH /v1/me/branding': { accentColor: '#7a1f5c' },
    'POST /v1/me/branding/preview': { accentColor: '#7a1f5c' },
    'PATCH /v1/me': { name: 'Acme', enforceAgentScopes: false },
  },
  needFullKey: [
    'GET /v1/keys',
    'POST /v1/keys',
    'DELETE /v1/keys/:id',
    'PATCH /v1/me',
    'PATCH /v1/me/branding',
    'POST /v1/me/branding/preview',
    'DELETE /v1/me/branding',
    'POST /v1/me/close',
    'POST /v1/me/stop',
    'POST /v1/me/resume',
  ],
  shownAt: () => ['/v1/keys', '/v1/me'],
};

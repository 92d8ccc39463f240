import { authenticator, registerPasskey } from '../../../../test/app/authenticator.ts';
import type { Samples } from '../../../../test/app/samples.ts';

const nobodysAnswer = {
  challengeId: 'wac_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  response: authenticator().create({ challenge: 'AAAA' }),
};

export const samples: Samples = {
  async possess(developer) {
    const { id } = await registerPasskey(developer, authenticator(), { deviceName: 'Phone of the sample' });
    const options = await developer('POST', '/v1/webauthn/register/options', { principalId: 'user_42' });
    const { challengeId, publicKey } = options.json();
    const response = authenticator().create(publicKey);
    return { passkeyId: String(id), passkeyAnswer: JSON.stringify({ challengeId, response }) };
  },
  nobodys: { passkeyId: 'cred_01K9Z3QW5M8T2V4X6Y7Z8A9B0C', passkeyAnswer: JSON.stringify(nobodysAnswer) },
  ways: {
    'POST /v1/webauthn/register/verify': { body: (its) => JSON.parse(its.passkeyAnswer ?? '') },
    'PATCH /v1/webauthn/credentials/:id': { id: 'passkeyId', body: () => ({ deviceName: 'Another name' }) },
    'DELETE /v1/webauthn/credentials/:id': { id: 'passkeyId' },
  },
  bodies: { 'POST /v1/webauthn/register/options': { principalId: 'user_42' } },
  needFullKey: [
    'POST /v1/webauthn/register/options',
    'POST /v1/webauthn/register/verify',
    'GET /v1/webauthn/credentials',
    'PATCH /v1/webauthn/credentials/:id',
    'DELETE /v1/webauthn/credentials/:id',
  ],
  shownAt: () => ['/v1/webauthn/credentials?principalId=user_42'],
};

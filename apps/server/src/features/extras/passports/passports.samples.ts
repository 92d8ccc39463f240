import type { Possessions, Samples } from '../../../../test/app/samples.ts';
import type { Developer } from '../../../../test/app/start-app.ts';

/** A passport needs a grant with scopes of payments. */
async function passportOf(developer: Developer, { agentId }: Possessions) {
  const asked = { agentId, principalId: 'user_42', scopes: ['payments:mpp:*'] };
  const { code } = (await developer('POST', '/v1/authorize', asked)).json();
  const { grantId } = (await developer('POST', '/v1/token', { code, agentId })).json();
  const body = { agentId, grantId, allowedMPPCategories: ['data'] };
  const limit = { maxTransactionAmount: { amount: 5, currency: 'USD' } };
  const { passportId } = (await developer('POST', '/v1/passport/issue', { ...body, ...limit })).json();
  return { passportId: String(passportId), payingGrantId: String(grantId) };
}

const LIMITS = { allowedMPPCategories: ['data'], maxTransactionAmount: { amount: '5', currency: 'USD' } };

export const samples: Samples = {
  possess: passportOf,
  nobodys: {
    passportId: 'urn:behest:passport:01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
    payingGrantId: 'grnt_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  },
  ways: {
    'POST /v1/passport/issue': {
      body: ({ agentId, payingGrantId }) => ({
        agentId,
        grantId: payingGrantId,
        ...LIMITS,
      }),
    },
    'GET /v1/passport/:id': { id: 'passportId' },
    'POST /v1/passport/:id/revoke': { id: 'passportId' },
  },
  bodies: { 'POST /v1/passports/verify': { passport: 'x' } },
  shownAt: ({ passportId }) => ['/v1/passports', `/v1/passport/${passportId}`],
};

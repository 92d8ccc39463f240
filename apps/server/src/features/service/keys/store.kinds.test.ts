import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import { enrolApprover, payer } from '../../../../test/app/approving.ts';
import { grantTo, openSession } from '../../../../test/app/flow.ts';
import { ADMIN_API_KEY, type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';
import vectors from './keys.vectors.json' with { type: 'json' };

/** One token of each kind that the service signs for others, by its kind. */
async function oneOfEach(service: Service, acme: Developer) {
  const scopes = ['payments:mpp:data', 'wallet:authorize'];
  const { agentId, grantId, grantToken } = await grantTo(acme, { scopes });
  const issue = async (url: string, body: object) => (await acme('POST', url, body)).json();
  const vc = (await issue('/v1/credentials', { grantId, format: 'vc-jwt' })).credential;
  const sdJwt = (await issue('/v1/credentials', { grantId, format: 'sd-jwt' })).credential;
  const passport = await issue('/v1/passport/issue', {
    ...{ agentId, grantId, allowedMPPCategories: ['data'] },
    maxTransactionAmount: { amount: 1, currency: 'USD' },
  });
  const account = 'eip155:1:0xab16a96D359eC26a11e2C2b3d8f8B8942d5Bfcdb';
  const maxAmount = { amount: '1', asset: 'USDC' };
  const wallet = await issue('/v1/wallet/authorizations', { grantId, account, maxAmount });
  const { statusListId } = (await acme('GET', '/v1/credentials')).json().credentials[0];
  const published = async (url: string, accept: string) =>
    (await service.app.inject({ url, headers: { accept } })).body;
  const agent = await payer(acme);
  const ada = await enrolApprover(service, acme, `${crypto.randomUUID()}@example.org`);
  const { decisionId } = (await agent.ask()).json();
  await ada.approve(decisionId);
  const [decision] = await agent.grantsOf(decisionId);
  return {
    'at+jwt': grantToken,
    'vc+jwt': vc,
    'dc+sd-jwt': sdJwt.split('~')[0],
    'agent-passport+jwt': passport.passportJwt,
    'wallet-authorization+jwt': wallet.authorization,
    'principal-session+jwt': (await openSession(acme)).json().sessionToken,
    'decision+jwt': decision,
    'statuslist+jwt': await published(`/v1/status-lists/${statusListId}`, 'application/statuslist+jwt'),
    'bitstring list': await published(`/v1/credentials/status/${statusListId}`, 'application/vc+jwt'),
  };
}

test('the key of the store signs each kind of token with ES256, and the next key does after a rotation', async () => {
  const service = await startApp({
    env: {
      SIGNING_KEY_STORE: 'postgres',
      JWT_SIGNING_ALG: 'ES256',
      EC_PRIVATE_KEY: vectors.ec.privateKey,
      SIGNING_KEY_ACTIVATION_DELAY_SECONDS: '60',
    },
  });
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const operator = service.calling(ADMIN_API_KEY);
  service.advance(60);
  const first = await oneOfEach(service, acme);
  const { kid } = (await operator('POST', '/v1/admin/keys/rotate', {})).json();
  service.advance(60);
  await service.runJob('signing_keys');
  const second = await oneOfEach(service, acme);

  const keys = createLocalJWKSet((await service.app.inject('/.well-known/jwks.json')).json());
  const firstKid = `service-es256-${vectors.ec.thumbprint}`;
  for (const [tokens, ofKey] of [
    [first, firstKid],
    [second, kid],
  ] as const) {
    for (const [name, token] of Object.entries(tokens)) {
      const text = String(token);
      expect(decodeProtectedHeader(text), name).toMatchObject({ alg: 'ES256', kid: ofKey });
      await jwtVerify(text, keys, { algorithms: ['ES256'], currentDate: service.clock() });
    }
  }
  expect(Object.keys(second)).toHaveLength(9);
});

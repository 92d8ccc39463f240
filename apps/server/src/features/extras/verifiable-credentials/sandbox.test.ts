import { decodeJwt } from 'jose';
import { expect, test } from 'vitest';
import { authorize, registerAgent } from '../../../../test/app/flow.ts';
import { personOn } from '../../../../test/app/person.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

/** A grant of an account of this mode, with a statement of each kind about it. */
async function statedIn(service: Service, mode: 'live' | 'sandbox') {
  const acme = await service.asDeveloper({ mode });
  const { agentId } = await registerAgent(acme);
  const made = await authorize(acme, agentId, { scopes: ['payments:mpp:data'] });
  const person = personOn(service);
  if (mode === 'live') await person.open(made.consentUrl);
  const { code } = mode === 'live' ? (await person.approve(made.id)).json() : made;
  const exchanged = await acme('POST', '/v1/token', { code, agentId, credentialFormat: 'vc-jwt' });
  expect(exchanged.statusCode, exchanged.body).toBe(201);
  const { grantId, grantToken, verifiableCredential } = exchanged.json();
  const { agentId: subAgentId } = await registerAgent(acme, 'Helper');
  const part = { parentGrantToken: grantToken, subAgentId, scopes: ['payments:mpp:data'], expiresIn: '1h' };
  const child = await acme('POST', '/v1/grants/delegate', { ...part, credentialFormat: 'vc-jwt' });
  const sdJwt = (await acme('POST', '/v1/credentials', { grantId, format: 'sd-jwt' })).json().credential;
  const wish = { agentId, grantId, allowedMPPCategories: ['data'] };
  const amount = { maxTransactionAmount: { amount: 1, currency: 'USD' } };
  const passport = (await acme('POST', '/v1/passport/issue', { ...wish, ...amount })).json();
  return { verifiableCredential, child: child.json().verifiableCredential, sdJwt, passport };
}

const SUBJECTS = ['verifiableCredential', 'child'] as const;

test('J23: every statement of a sandbox account says so, where no holder can keep it back, and no other does', async () => {
  const service = await startApp();
  const [sandbox, live] = [await statedIn(service, 'sandbox'), await statedIn(service, 'live')];
  const present = async (sdJwt: string) =>
    (await service.app.inject({ method: 'POST', url: '/v1/credentials/present', body: { sdJwt } })).json();
  const bare = (sdJwt: string) => `${sdJwt.split('~')[0]}~`;

  for (const name of SUBJECTS) {
    expect(decodeJwt(sandbox[name])).toMatchObject({ credentialSubject: { sandbox: true } });
    expect(Object(decodeJwt(live[name])).credentialSubject).not.toHaveProperty('sandbox');
  }
  expect(decodeJwt(bare(sandbox.sdJwt).slice(0, -1))).toMatchObject({ sandbox: true });
  expect((await present(bare(sandbox.sdJwt))).disclosedClaims).toMatchObject({ sandbox: true });
  expect((await present(live.sdJwt)).disclosedClaims).not.toHaveProperty('sandbox');
  for (const text of [sandbox.passport.credential, decodeJwt(sandbox.passport.passportJwt)])
    expect(text).toMatchObject({ credentialSubject: { sandbox: true } });
  expect(live.passport.credential.credentialSubject).not.toHaveProperty('sandbox');
  const { '@context': terms } = (await service.app.inject('/ns/credentials/v1')).json();
  expect(terms).toHaveProperty('sandbox');
});

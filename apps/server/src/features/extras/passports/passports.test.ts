import { generateKeyPairSync } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describe, expect, test } from 'vitest';
import {
  actionsOf,
  entriesOf,
  grantTo,
  hold,
  letGo,
  refusalOf,
  sharedSandbox,
  startSandbox,
} from '../../../../test/app/flow.ts';
import type { Developer, Service } from '../../../../test/app/start-app.ts';

const join = sharedSandbox();

/** The shared clock stands where the tests before left it. */
const later = ({ clock }: Service, seconds: number) =>
  new Date(clock().getTime() + seconds * 1000).toISOString();

/** An agent that may pay for these categories. */
async function payer(acme: Developer, request: object = {}) {
  const scopes = ['payments:mpp:inference', 'payments:mpp:data'];
  const { agentId, grantId, grantToken } = await grantTo(acme, { scopes, ...request });
  const body = {
    ...{ agentId, grantId, allowedMPPCategories: ['inference'] },
    maxTransactionAmount: { amount: 5, currency: 'USD' },
  };
  const issue = (members: object = {}) => acme('POST', '/v1/passport/issue', { ...body, ...members });
  const issued = async (members: object = {}) => {
    const answer = await issue(members);
    expect(answer.statusCode, answer.body).toBe(201);
    return answer.json();
  };
  return { agentId, grantId, grantToken, issue, issued };
}

const verify = async ({ app }: Service, passport: string) =>
  (await app.inject({ method: 'POST', url: '/v1/passports/verify', body: { passport } })).json();
const pathOf = (passportId: string) => `/v1/passport/${encodeURIComponent(passportId)}`;
const statusOf = async (acme: Developer, passportId: string) =>
  (await acme('GET', pathOf(passportId))).json().status;

describe('a passport', () => {
  test('says what an agent may pay for, to everybody who asks', async () => {
    const { acme, service } = await join();
    const { agentId, grantId, issued } = await payer(acme);

    const passport = await issued({ allowedMPPCategories: ['inference', 'inference'] });

    const { passportId, credential, passportJwt } = passport;
    expect(passportId).toMatch(/^urn:behest:passport:[0-9A-Z]{26}$/);
    expect(passport.expiresAt).toBe(later(service, 86_400));
    expect(credential).toMatchObject({
      id: passportId,
      type: ['VerifiableCredential', 'AgentPassportCredential'],
      issuer: 'did:web:auth.test',
      credentialSubject: {
        ...{ type: 'AIAgent', grantId, allowedMPPCategories: ['inference'], paymentRails: ['tempo'] },
        humanPrincipal: expect.stringMatching(/^urn:behest:principal:[\w-]{43}$/),
        organizationDID: 'did:web:auth.test',
        maxTransactionAmount: { amount: 5, currency: 'USD' },
        delegationDepth: 0,
      },
    });
    expect(decodeProtectedHeader(passportJwt)).toMatchObject({ typ: 'agent-passport+jwt' });
    expect(JSON.stringify(decodeJwt(passportJwt))).not.toContain('user_42');
    const answer = {
      ...{ valid: true, passportId, grantId, categories: ['inference'] },
      agentDid: credential.credentialSubject.id,
      maxTransactionAmount: { amount: 5, currency: 'USD' },
      expiresAt: passport.expiresAt,
    };
    expect(await verify(service, passportJwt)).toEqual(answer);
    expect(await verify(service, passport.encodedCredential)).toEqual(answer);
    expect((await acme('GET', pathOf(passportId))).json()).toEqual({ ...credential, status: 'active' });
    const [record] = (await acme('GET', '/v1/credentials')).json().credentials;
    expect(record).toMatchObject({ format: 'agent-passport', credential: passportJwt, grantId });
    expect((await acme('GET', '/v1/passports')).json()).toEqual([
      {
        ...{ passportId, agentId, grantId, status: 'active', expiresAt: passport.expiresAt },
        createdAt: later(service, 0),
      },
    ]);
    expect(await actionsOf(acme)).toContain('passport.issued');
    const asCredential = await acme('POST', '/v1/credentials/verify', { credential: passportJwt });
    expect(asCredential.json()).toMatchObject({ valid: true, credentialType: 'AgentPassportCredential' });
  });

  test('names the person by a pseudonym, the same for one developer and another for the next', async () => {
    const { acme, service } = await join();
    const other = await service.asDeveloper({ mode: 'sandbox' });
    const nameIn = async (developer: Developer, principalId = 'user_42') =>
      (await (await payer(developer, { principalId })).issued()).credential.credentialSubject.humanPrincipal;

    const [first, again] = [await nameIn(acme), await nameIn(acme)];

    expect(again).toBe(first);
    expect(await nameIn(acme, 'user_43')).not.toBe(first);
    expect(await nameIn(other)).not.toBe(first);
  });

  test('keeps an exact amount, and ends with the grant at the latest', async () => {
    const { acme, service } = await join();
    const { issued } = await payer(acme, { expiresIn: '2h' });

    const passport = await issued({
      ...{ maxTransactionAmount: { amount: '0.000001', currency: 'USDC' }, expiresIn: '720h' },
    });

    expect(passport.credential.credentialSubject.maxTransactionAmount.amount).toBe('0.000001');
    expect(passport.expiresAt).toBe(later(service, 7200));
  });

  test('has a proof of the identity key, which belongs to its text', async () => {
    const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
    const { acme, service } = await startSandbox({ env: { ED25519_PRIVATE_KEY: String(pem) } });
    const { encodedCredential, credential } = await (await payer(acme)).issued();

    expect(credential.proof).toMatchObject({ cryptosuite: 'eddsa-jcs-2022' });
    expect(await verify(service, encodedCredential)).toMatchObject({ valid: true });
    const changed = { ...credential, proof: { ...credential.proof, created: '2025-01-01T00:00:00.000Z' } };
    const text = Buffer.from(JSON.stringify(changed)).toString('base64url');
    expect(await verify(service, text)).toMatchObject({ valid: false, code: 'bad_signature' });
  });
});

test('a passport lives a day by default, and never longer than the operator allows', async () => {
  const { acme, service } = await startSandbox({ env: { MPP_PASSPORT_MAX_EXPIRY_HOURS: '2' } });
  const { issue, issued } = await payer(acme);

  expect((await issued()).expiresAt).toBe(later(service, 7200));
  expect((await issued({ expiresIn: '2h' })).expiresAt).toBe(later(service, 7200));
  expect(refusalOf(await issue({ expiresIn: '7201s' }))).toBe('422 INVALID_EXPIRY');
});

describe('O16: a passport of an agent', () => {
  const holds: [string, 'suspend' | 'stop'][] = [
    ['that is suspended', 'suspend'],
    ['whose account is stopped', 'stop'],
  ];
  test.each(holds)('%s is not good, and no other is issued, until it goes on', async (_, way) => {
    const { acme, service } = await join();
    const { agentId, issue, issued } = await payer(acme);
    const { passportId, passportJwt, encodedCredential } = await issued();

    await hold(acme, way, agentId);

    for (const text of [passportJwt, encodedCredential])
      expect(await verify(service, text)).toMatchObject({ valid: false, code: 'suspended', passportId });
    expect(refusalOf(await issue())).toBe('400 INVALID_AGENT');
    expect(await statusOf(acme, passportId)).toBe('active');
    await letGo(acme, way, agentId);
    expect(await verify(service, passportJwt)).toMatchObject({ valid: true });
    expect((await issue()).statusCode).toBe(201);
    expect(await entriesOf(acme, 'passport.issued')).toHaveLength(2);
  });
});

describe('P4: a passport is refused', () => {
  const limit = (amount: unknown, currency = 'USD') => ({ maxTransactionAmount: { amount, currency } });
  const wishes: [string, object, string][] = [
    [
      'for a category without its scope',
      { allowedMPPCategories: ['data', 'media'] },
      '400 SCOPE_INSUFFICIENT',
    ],
    ['for another agent', { agentId: 'ag_other' }, '400 INVALID_AGENT'],
    ['for an unknown grant', { grantId: 'grnt_other' }, '400 INVALID_GRANT grant_unknown'],
    ['without categories', { allowedMPPCategories: [] }, '400 BAD_REQUEST'],
    ['of an unknown category', { allowedMPPCategories: ['weapons'] }, '400 BAD_REQUEST'],
    ['over nothing', limit(0), '400 BAD_REQUEST'],
    ['over a negative amount', limit(-1), '400 BAD_REQUEST'],
    ['over seven decimals', limit('0.0000001'), '400 BAD_REQUEST'],
    ['over a number that readers read differently', limit(0.1 + 0.2), '400 BAD_REQUEST'],
    ['over an exponent', limit('1e3'), '400 BAD_REQUEST'],
    ['in no currency', limit(5, 'usd'), '400 BAD_REQUEST'],
    ['for no time', { expiresIn: '1y' }, '400 BAD_REQUEST'],
    ['for more time than the operator allows', { expiresIn: '721h' }, '422 INVALID_EXPIRY'],
    [
      'below an unknown passport',
      { parentPassportId: `urn:behest:passport:${'0'.repeat(26)}` },
      '400 PARENT_EXCEEDED parent',
    ],
  ];
  test.each(wishes)('%s', async (_, members, refusal) => {
    const { acme } = await join();
    const { issue } = await payer(acme);
    expect(refusalOf(await issue(members))).toBe(refusal);
    expect((await issue()).statusCode).toBe(201);
  });

  test('beyond what is left of the budget', async () => {
    const { acme } = await join();
    const { issue, grantToken } = await payer(acme, { budget: { amount: '10', currency: 'USD' } });
    expect((await issue(limit(10))).statusCode).toBe(201);
    expect(refusalOf(await issue(limit('10.000001')))).toBe('400 AMOUNT_EXCEEDS_BUDGET insufficient');
    expect(grantToken).toEqual(expect.any(String));
  });

  test('agents 44: in another currency than the budget, with both named', async () => {
    const { acme } = await join();
    const { issue } = await payer(acme, { budget: { amount: '10', currency: 'USD' } });
    const refused = await issue(limit(1, 'EUR'));
    expect(refusalOf(refused)).toBe('400 AMOUNT_EXCEEDS_BUDGET currency_mismatch');
    expect(refused.json()).toMatchObject({
      message: 'The amount is in EUR, and the budget of the grant in USD; name an amount in USD.',
      details: { currency: 'EUR', budgetCurrency: 'USD' },
    });
    expect((await issue(limit(1))).statusCode).toBe(201);
  });

  test('agents 44: a passport over what is left to the sixth decimal', async () => {
    const { acme } = await join();
    const { issue } = await payer(acme, { budget: { amount: '0.000045', currency: 'USD' } });
    expect(refusalOf(await issue(limit('0.000046')))).toBe('400 AMOUNT_EXCEEDS_BUDGET insufficient');
    expect((await issue(limit('0.000045'))).statusCode).toBe(201);
  });

  test('about a grant that ended', async () => {
    const { acme, service } = await join();
    const { issue } = await payer(acme, { expiresIn: '1h' });
    const revoked = await payer(acme);
    await acme('DELETE', `/v1/grants/${revoked.grantId}`);
    expect(refusalOf(await revoked.issue())).toBe('400 INVALID_GRANT grant_revoked');
    service.advance(3600);
    expect(refusalOf(await issue())).toBe('400 INVALID_GRANT grant_expired');
  });

  test('with a changed text, as a credential of another type, and as no text', async () => {
    const { acme, service } = await join();
    const { grantId, issued } = await payer(acme);
    const { credential, passportJwt } = await issued();
    const wider = structuredClone(credential);
    wider.credentialSubject.maxTransactionAmount.amount = 5000;
    const encoded = Buffer.from(JSON.stringify(wider)).toString('base64url');
    const vc = (await acme('POST', '/v1/credentials', { grantId, format: 'vc-jwt' })).json();

    expect(await verify(service, encoded)).toMatchObject({ valid: false, code: 'bad_signature' });
    expect(await verify(service, `${passportJwt.slice(0, -9)}AAAAAAAAA`)).toMatchObject({
      code: 'bad_signature',
    });
    expect(await verify(service, vc.credential)).toMatchObject({ valid: false, code: 'typ_not_allowed' });
    expect(await verify(service, 'x')).toMatchObject({ valid: false, code: 'bad_signature' });
  });
});

describe('a passport below another', () => {
  test('is a part of it, and ends with it', async () => {
    const { acme, service } = await join();
    const { grantId, issue, issued } = await payer(acme);
    const parent = await issued({ expiresIn: '1h' });
    const below = { parentPassportId: parent.passportId };

    const child = await issued(below);
    const grandchild = await issued({ parentPassportId: child.passportId });

    expect(child.expiresAt).toBe(parent.expiresAt);
    expect(child.credential.credentialSubject.parentPassportId).toBe(parent.passportId);
    const more: [object, string][] = [
      [{ allowedMPPCategories: ['data'] }, 'categories'],
      [{ maxTransactionAmount: { amount: '5.000001', currency: 'USD' } }, 'amount'],
      [{ maxTransactionAmount: { amount: 1, currency: 'EUR' } }, 'amount'],
      [{ expiresIn: '3601s' }, 'lifetime'],
    ];
    for (const [members, reason] of more) {
      expect(refusalOf(await issue({ ...below, ...members }))).toBe(`400 PARENT_EXCEEDED ${reason}`);
    }
    const revoke = () => acme('POST', `${pathOf(parent.passportId)}/revoke`);
    const first = (await revoke()).json();
    service.advance(1);
    expect((await revoke()).json()).toEqual(first);
    expect(first).toEqual({ revoked: true, revokedAt: later(service, -1) });
    for (const { passportId, passportJwt } of [parent, child, grandchild]) {
      expect(await statusOf(acme, passportId)).toBe('revoked');
      expect(await verify(service, passportJwt)).toMatchObject({ valid: false, code: 'revoked', passportId });
    }
    const entries = await entriesOf(acme, 'passport.revoked');
    const ids = [parent, child, grandchild].map(({ passportId }) =>
      passportId.replace('urn:behest:passport:', 'vc_'),
    );
    expect(entries.map(({ metadata }) => metadata.credentialId).sort()).toEqual(ids.sort());
    expect(new Set(entries.map((entry) => entry.grantId))).toEqual(new Set([grantId]));
    const { events } = (await acme('GET', '/v1/events?types=passport.revoked')).json();
    expect(events).toHaveLength(3);
    expect(refusalOf(await issue(below))).toBe('400 PARENT_EXCEEDED parent');
  });

  test('ends with the grant of its parent, also where it is about another grant', async () => {
    const { acme } = await join();
    const [one, two] = [await payer(acme), await payer(acme)];
    const parent = await one.issued();
    const child = await two.issued({ parentPassportId: parent.passportId });
    const free = await two.issued();

    await acme('DELETE', `/v1/grants/${one.grantId}`);

    const ids = [parent, child, free].map(({ passportId }) => passportId);
    expect(await Promise.all(ids.map((id) => statusOf(acme, id)))).toEqual(['revoked', 'revoked', 'active']);
  });
});

test('the list of passports filters, and goes on after a hundred', async () => {
  const { acme, service } = await join();
  const { grantId, agentId, issued } = await payer(acme);
  const first = await issued();
  for (let more = 0; more < 100; more += 1) {
    service.advance(1);
    await issued({ expiresIn: '1h' });
  }
  await acme('POST', `${pathOf(first.passportId)}/revoke`);

  const answer = await acme('GET', `/v1/passports?grantId=${grantId}`);
  const [, next = ''] = /^<https:\/\/auth\.test(.+)>; rel="next"$/.exec(String(answer.headers.link)) ?? [];
  const rest = await acme('GET', next);

  expect(answer.json()).toHaveLength(100);
  expect(rest.json().map(({ passportId }: { passportId: string }) => passportId)).toEqual([first.passportId]);
  expect(rest.headers).not.toHaveProperty('link');
  const count = async (query: string) => (await acme('GET', `/v1/passports?${query}`)).json().length;
  expect(await count('status=revoked')).toBe(1);
  expect(await count('status=active')).toBe(100);
  expect(await count('status=expired')).toBe(0);
  expect(await count(`agentId=${agentId}&status=revoked`)).toBe(1);
  expect(await count('agentId=ag_other')).toBe(0);
  expect(next).toContain(`grantId=${grantId}`);
});

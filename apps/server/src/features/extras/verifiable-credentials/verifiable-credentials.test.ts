import { gunzipSync, inflateSync } from 'node:zlib';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import {
  actionsOf,
  authorize,
  entriesOf,
  grantTo,
  hold,
  letGo,
  refusalOf,
  registerAgent,
  sharedSandbox,
  signedBy,
} from '../../../../test/app/flow.ts';
import { personOn } from '../../../../test/app/person.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';

const start = sharedSandbox();
const UNKNOWN_LIST = 'vcsl_01K9Z3QW5M8T2V4X6Y7Z8A9B0C';

async function keysOf({ app }: Service) {
  const { keys }: JSONWebKeySet = (await app.inject('/.well-known/jwks.json')).json();
  return createLocalJWKSet({ keys });
}

async function issue(developer: Developer, members: object) {
  const answer = await developer('POST', '/v1/credentials', members);
  expect(answer.statusCode, answer.body).toBe(201);
  return answer.json();
}

const verify = async ({ app }: Service, credential: string) =>
  (await app.inject({ method: 'POST', url: '/v1/credentials/verify', body: { credential } })).json();

/** The bits of both published lists, entry by entry, as their documents say. */
async function bitsOf({ app }: Service, listId: string, idx: number): Promise<[boolean, boolean]> {
  const bitstring = (await app.inject(`/v1/credentials/status/${listId}`)).json();
  const { encodedList } = bitstring.credentialSubject;
  const bytes = gunzipSync(Buffer.from(encodedList.slice(1), 'base64url'));
  const token = (await app.inject(`/v1/status-lists/${listId}`)).body;
  const { status_list } = decodeJwt<{ status_list: { bits: number; lst: string } }>(token);
  const others = inflateSync(Buffer.from(status_list.lst, 'base64url'));
  expect([bytes.length, others.length, status_list.bits]).toEqual([16_384, 16_384, 1]);
  const [byte, other] = [bytes[idx >> 3] ?? 0, others[idx >> 3] ?? 0];
  return [((byte >> (7 - (idx % 8))) & 1) === 1, ((other >> (idx % 8)) & 1) === 1];
}

describe('a credential about a grant', () => {
  test('is signed by the service, read by a library, and ends with its grant', async () => {
    const { acme, service } = await start();
    const { grantId, agentDid } = await grantTo(acme);
    const grant = (await acme('GET', `/v1/grants/${grantId}`)).json();

    const record = await issue(acme, { grantId, format: 'vc-jwt' });

    expect(record).toMatchObject({
      grantId,
      agentDid: grant.agentDid ?? agentDid,
      status: 'active',
      revokedAt: null,
    });
    expect(record.credentialJwt).toBe(record.credential);
    expect(record.expiresAt).toBe(`${grant.expiresAt.slice(0, 19)}.000Z`);
    expect(decodeProtectedHeader(record.credential)).toEqual({
      ...{ alg: 'RS256', kid: expect.stringMatching(/^service-/), typ: 'vc+jwt', cty: 'vc' },
    });
    const { payload } = await jwtVerify(record.credential, await keysOf(service), {
      ...{ issuer: 'did:web:auth.test', currentDate: service.clock() },
    });
    expect(payload).toMatchObject({
      id: `urn:behest:vc:${record.id}`,
      jti: record.id,
      issuer: 'did:web:auth.test',
      sub: grant.agentDid,
      type: ['VerifiableCredential', 'AgentGrantCredential'],
      validUntil: record.expiresAt,
      credentialSubject: {
        id: grant.agentDid,
        grantId,
        scopes: grant.scopes,
        principalId: grant.principalId,
      },
      credentialStatus: [{ statusListIndex: String(record.statusListIdx), statusPurpose: 'revocation' }],
    });
    expect(await verify(service, record.credential)).toMatchObject({
      valid: true,
      vcId: record.id,
      revoked: false,
    });
    expect(await entriesOf(acme, 'vc.issued')).toMatchObject([
      { metadata: { credentialId: record.id }, grantId },
    ]);
  });

  test('may end earlier, and never later', async () => {
    const { acme, service } = await start();
    const { grantId } = await grantTo(acme);
    const short = await issue(acme, { grantId, format: 'vc-jwt', expiresIn: '60s' });
    const long = await issue(acme, { grantId, format: 'vc-jwt', expiresIn: '9999d' });

    expect(Date.parse(short.expiresAt) - Date.parse(short.issuedAt)).toBeLessThanOrEqual(60_000);
    expect(Date.parse(long.expiresAt)).toBeLessThanOrEqual(
      Date.parse((await acme('GET', `/v1/grants/${grantId}`)).json().expiresAt),
    );
    service.advance(59);
    expect(await verify(service, short.credential)).toMatchObject({ valid: true });
    service.advance(1);
    expect(await verify(service, short.credential)).toMatchObject({
      ...{ valid: false, code: 'expired', expired: true, vcId: short.id },
      payload: { jti: short.id },
    });
    expect((await acme('GET', `/v1/credentials/${short.id}`)).json().status).toBe('expired');
  });

  test('is refused for a grant that ended, for fields of another format, and for the grant of another', async () => {
    const { acme, service } = await start();
    const { grantId } = await grantTo(acme);
    const ask = (members: object) =>
      acme('POST', '/v1/credentials', { grantId, format: 'vc-jwt', ...members });

    expect((await ask({})).statusCode).toBe(201);
    expect(refusalOf(await ask({ selectiveFields: ['scopes'] }))).toMatch(/^400 BAD_REQUEST/);
    expect(refusalOf(await ask({ holderJwk: { kty: 'OKP', crv: 'Ed25519', x: 'a'.repeat(43) } }))).toMatch(
      /^400/,
    );
    expect(refusalOf(await ask({ expiresIn: '1y' }))).toMatch(/^400/);
    const other = await service.asDeveloper({ mode: 'sandbox' });
    const foreign = await other('POST', '/v1/credentials', { grantId, format: 'vc-jwt' });
    expect(refusalOf(foreign)).toBe('404 NOT_FOUND');
    await acme('DELETE', `/v1/grants/${grantId}`);
    expect(refusalOf(await ask({}))).toBe('409 GRANT_INACTIVE revoked');
  });

  test('lists filter by grant, principal and status', async () => {
    const { acme, service } = await start();
    const [one, two] = [await grantTo(acme), await grantTo(acme, { principalId: 'user_43' })];
    const first = await issue(acme, { grantId: one.grantId, format: 'vc-jwt' });
    service.advance(1);
    const second = await issue(acme, { grantId: two.grantId, format: 'sd-jwt' });
    await acme('POST', `/v1/credentials/${first.id}/revoke`, {});
    const idsOf = async (query: string) =>
      (await acme('GET', `/v1/credentials?${query}`)).json().credentials.map(({ id }: { id: string }) => id);

    expect(await idsOf('')).toEqual([second.id, first.id]);
    expect(await idsOf(`grantId=${one.grantId}`)).toEqual([first.id]);
    expect(await idsOf('principalId=user_43')).toEqual([second.id]);
    expect(await idsOf('status=active')).toEqual([second.id]);
    expect(await idsOf('status=revoked')).toEqual([first.id]);
    expect(await idsOf('status=expired')).toEqual([]);
    expect(await idsOf(`limit=1&cursor=${second.id}`)).toEqual([first.id]);
  });
});

describe('a revocation', () => {
  test('sets the bit of a credential in both lists, once, and leaves the grant', async () => {
    const { acme, service } = await start();
    const { grantId, grantToken } = await grantTo(acme);
    const { id, credential, statusListId, statusListIdx } = await issue(acme, { grantId, format: 'vc-jwt' });
    const sibling = await issue(acme, { grantId, format: 'vc-jwt' });
    expect(await bitsOf(service, statusListId, statusListIdx)).toEqual([false, false]);

    const revoked = await acme('POST', `/v1/credentials/${id}/revoke`, { reason: 'lost' });
    service.advance(1);
    const again = await acme('POST', `/v1/credentials/${id}/revoke`, {});

    expect(revoked.json()).toEqual({ id, status: 'revoked', revokedAt: expect.any(String) });
    expect(again.json()).toEqual(revoked.json());
    expect((await actionsOf(acme)).filter((action) => action === 'vc.revoked')).toHaveLength(1);
    expect(await verify(service, credential)).toMatchObject({ valid: false, code: 'revoked', revoked: true });
    expect(await bitsOf(service, statusListId, statusListIdx)).toEqual([true, true]);
    expect(await bitsOf(service, sibling.statusListId, sibling.statusListIdx)).toEqual([false, false]);
    expect(await verify(service, sibling.credential)).toMatchObject({ valid: true });
    const token = (await acme('POST', '/v1/tokens/verify', { token: grantToken })).json();
    expect(token.valid).toBe(true);
  });

  test('takes the credentials of a grant with it, and of everything delegated from it', async () => {
    const { acme, service } = await start();
    const { grantId, grantToken, agentId } = await grantTo(acme);
    const delegated = (
      await acme('POST', '/v1/grants/delegate', {
        parentGrantToken: grantToken,
        subAgentId: agentId,
        scopes: ['calendar:read'],
      })
    ).json();
    const own = await issue(acme, { grantId, format: 'vc-jwt' });
    const below = await issue(acme, { grantId: delegated.grantId, format: 'sd-jwt' });
    const other = await issue(acme, { grantId: (await grantTo(acme)).grantId, format: 'vc-jwt' });

    await acme('DELETE', `/v1/grants/${grantId}`);

    const statusOf = async (id: string) => (await acme('GET', `/v1/credentials/${id}`)).json().status;
    expect([await statusOf(own.id), await statusOf(below.id), await statusOf(other.id)]).toEqual([
      ...['revoked', 'revoked', 'active'],
    ]);
    expect(await bitsOf(service, own.statusListId, own.statusListIdx)).toEqual([true, true]);
    expect(await bitsOf(service, below.statusListId, below.statusListIdx)).toEqual([true, true]);
    expect(await bitsOf(service, other.statusListId, other.statusListIdx)).toEqual([false, false]);
  });
});

describe('O16: a credential of an agent', () => {
  const holds: [string, 'suspend' | 'stop'][] = [
    ['that is suspended', 'suspend'],
    ['whose account is stopped', 'stop'],
  ];
  test.each(holds)('%s is not good, and no other is issued, until it goes on', async (_, way) => {
    const { acme, service } = await start();
    const { grantId, agentId } = await grantTo(acme);
    const other = await grantTo(acme);
    const { credential, id, statusListId, statusListIdx } = await issue(acme, { grantId, format: 'vc-jwt' });
    const sdJwt = (await issue(acme, { grantId, format: 'sd-jwt' })).credential;
    const ask = (about: string) => acme('POST', '/v1/credentials', { grantId: about, format: 'vc-jwt' });
    const present = async () =>
      (await service.app.inject({ method: 'POST', url: '/v1/credentials/present', body: { sdJwt } })).json();

    await hold(acme, way, agentId);

    expect(await verify(service, credential)).toMatchObject({
      ...{ valid: false, code: 'suspended', vcId: id, error: expect.stringMatching(/\.$/) },
    });
    expect(await verify(service, credential)).not.toHaveProperty('revoked');
    expect(await present()).toMatchObject({ valid: false, code: 'suspended' });
    expect(refusalOf(await ask(grantId))).toBe('409 AGENT_INACTIVE');
    expect((await ask(other.grantId)).statusCode).toBe(way === 'stop' ? 409 : 201);
    expect(await bitsOf(service, statusListId, statusListIdx)).toEqual([false, false]);
    await letGo(acme, way, agentId);
    expect(await verify(service, credential)).toMatchObject({ valid: true });
    expect(await present()).toMatchObject({ valid: true });
    expect((await ask(grantId)).statusCode).toBe(201);
    expect(await entriesOf(acme, 'vc.issued')).toHaveLength(way === 'stop' ? 2 : 3);
  });

  test('is revoked with its agent, also while the account is stopped', async () => {
    const { acme, service } = await start();
    const { grantId, agentId } = await grantTo(acme);
    const { credential } = await issue(acme, { grantId, format: 'vc-jwt' });
    await hold(acme, 'stop', agentId);
    expect(await verify(service, credential)).toMatchObject({ code: 'suspended' });

    await acme('DELETE', `/v1/agents/${agentId}`);

    expect(await verify(service, credential)).toMatchObject({ code: 'revoked', revoked: true });
  });
});

describe('a status list', () => {
  test('is followed by another when it is four fifths full, and still tells of its own credentials', async () => {
    const { acme, service } = await start();
    const { grantId } = await grantTo(acme);
    const next = () => issue(acme, { grantId, format: 'vc-jwt' });
    const first = await next();
    const lists = () =>
      service.db
        .selectFrom('statusLists')
        .select(['id', 'used', 'isOpen'])
        .where('developerId', '=', acme.developerId)
        .orderBy('id')
        .execute();
    const fourFifths = Math.floor((131_072 * 4) / 5);
    const filled = { used: fourFifths - 1 };
    await service.db.updateTable('statusLists').set(filled).where('id', '=', first.statusListId).execute();

    service.advance(1); // ids of one millisecond have no order
    const [last, second, third] = [await next(), await next(), await next()];

    expect(last.statusListId).toBe(first.statusListId);
    expect(second.statusListId).not.toBe(first.statusListId);
    expect(third.statusListId).toBe(second.statusListId);
    expect(await lists()).toEqual([
      { id: first.statusListId, used: fourFifths, isOpen: false },
      { id: second.statusListId, used: 2, isOpen: true },
    ]);
    await acme('POST', `/v1/credentials/${first.id}/revoke`, {});
    expect(await bitsOf(service, first.statusListId, first.statusListIdx)).toEqual([true, true]);
    expect(await verify(service, first.credential)).toMatchObject({ code: 'revoked' });
    expect(await verify(service, last.credential)).toMatchObject({ valid: true });
    expect(await verify(service, second.credential)).toMatchObject({ valid: true });
  });

  test('is read by pages of any origin, and so is each refusal', async () => {
    const { acme, service } = await start();
    const { statusListId } = await issue(acme, { grantId: (await grantTo(acme)).grantId, format: 'vc-jwt' });
    const origin = 'https://verifier.test';
    const read = (url: string, accept = '*/*') => service.app.inject({ url, headers: { origin, accept } });
    const list = `/v1/credentials/status/${statusListId}`;
    const asked: [number, string, string?][] = [
      [200, list],
      [200, list, 'application/vc+jwt'],
      [200, `${list}?profile=2021`],
      [501, `${list}?profile=2021`, 'application/vc+jwt'],
      [400, `${list}?profile=2020`],
      [404, `/v1/credentials/status/${UNKNOWN_LIST}`],
      [200, `/v1/status-lists/${statusListId}`],
      [501, `/v1/status-lists/${statusListId}?time=1`],
      [404, `/v1/status-lists/${UNKNOWN_LIST}`],
      [200, '/ns/credentials/v1'],
    ];

    for (const [status, url, accept] of asked) {
      const answer = await read(url, accept);
      expect(answer.statusCode, url).toBe(status);
      expect(answer.headers, url).toMatchObject({ 'access-control-allow-origin': '*' });
    }
    const old = (await read(`${list}?profile=2021`)).json();
    expect(old.type).toEqual(['VerifiableCredential', 'StatusList2021Credential']);
    const own = await service.app.inject({ url: '/v1/credentials', headers: { origin } });
    expect(own.headers['access-control-allow-origin']).not.toBe('*');
  });
});

describe('P4: a credential is refused', () => {
  const asked = async (change: (payload: object) => object, header: object = {}) => {
    const { acme, service } = await start();
    const { grantId } = await grantTo(acme);
    const { credential } = await issue(acme, { grantId, format: 'vc-jwt' });
    const forged = await signedBy(service, change(decodeJwt(credential)), { typ: 'vc+jwt', ...header });
    return verify(service, forged);
  };

  test('positive control: the same claims signed again are good', async () => {
    expect(await asked((claims) => claims)).toMatchObject({ valid: true });
  });

  const cases: [string, string, (payload: object) => object, object?][] = [
    ['as a token of another kind', 'typ_not_allowed', (claims) => claims, { typ: 'at+jwt' }],
    [
      'of another issuer',
      'issuer_unknown',
      (claims) => ({ ...claims, iss: 'did:web:evil.test', issuer: 'did:web:evil.test' }),
    ],
    ['whose issuers differ', 'malformed', (claims) => ({ ...claims, issuer: 'did:web:evil.test' })],
    [
      'of another model',
      'malformed',
      (claims) => ({ ...claims, '@context': ['https://www.w3.org/2018/credentials/v1'] }),
    ],
    ['whose id is another', 'malformed', (claims) => ({ ...claims, jti: 'vc_other' })],
    ['about another subject', 'malformed', (claims) => ({ ...claims, sub: 'did:web:evil.test' })],
    ['without a status', 'malformed', (claims) => ({ ...claims, credentialStatus: [] })],
    [
      'with a status elsewhere',
      'malformed',
      (claims) => withList(claims, 'https://evil.test/v1/credentials/status/x'),
    ],
    [
      'with an unknown list',
      'status_unavailable',
      (claims) => withList(claims, `https://auth.test/v1/credentials/status/${UNKNOWN_LIST}`),
    ],
    ['beyond the end of the list', 'status_unavailable', (claims) => withIndex(claims, '131072')],
  ];
  test.each(cases)('%s', async (_, code, change, header) => {
    const answer = await asked(change, header);
    expect(answer).toMatchObject({ valid: false, code, error: expect.stringMatching(/\.$/) });
  });

  test('before its time', async () => {
    const from = (claims: object, seconds: number) => {
      const { iat } = Object(claims);
      return { iat: iat + seconds, validFrom: new Date((iat + seconds) * 1000).toISOString() };
    };

    for (const name of ['iat', 'nbf'])
      expect(await asked((claims) => ({ ...claims, [name]: Object(claims).iat + 61 }))).toMatchObject({
        ...{ valid: false, code: 'not_yet_valid', payload: expect.any(Object) },
      });
    expect(await asked((claims) => ({ ...claims, ...from(claims, 61) }))).toMatchObject({
      code: 'not_yet_valid',
    });
    expect(await asked((claims) => ({ ...claims, ...from(claims, 60) }))).toMatchObject({ valid: true });
  });

  test('with a changed claim, and no text at all', async () => {
    const { acme, service } = await start();
    const { credential } = await issue(acme, { grantId: (await grantTo(acme)).grantId, format: 'vc-jwt' });
    const [header, , signature] = credential.split('.');
    const payload = Buffer.from(JSON.stringify({ ...decodeJwt(credential), scopes: ['*'] })).toString(
      'base64url',
    );

    const changed = await verify(service, `${header}.${payload}.${signature}`);
    expect(changed).toEqual({ valid: false, code: 'bad_signature', error: 'The signature is not good.' });
    expect(await verify(service, 'x')).toMatchObject({ valid: false, code: 'malformed' });
  });

  test('as a text of 64 KiB, and only a longer one is a bad request', async () => {
    const { service } = await start();
    const ask = async (path: string, member: string, length: number) =>
      service.app.inject({ method: 'POST', url: path, body: { [member]: 'x'.repeat(length) } });

    for (const [path, member] of [
      ['/v1/credentials/verify', 'credential'],
      ['/v1/credentials/present', 'sdJwt'],
      ['/v1/passports/verify', 'passport'],
    ] as const) {
      expect((await ask(path, member, 65_536)).json(), path).toMatchObject({ valid: false });
      expect(refusalOf(await ask(path, member, 65_537))).toMatch(/^400 BAD_REQUEST/);
      expect((await ask(path, member, 69_632)).statusCode).toBe(413);
    }
  });
});

const withStatus = (claims: object, members: object) => {
  const [status] = Object(claims).credentialStatus;
  return { ...claims, credentialStatus: [{ ...status, ...members }] };
};
const withList = (claims: object, statusListCredential: string) =>
  withStatus(claims, { statusListCredential });
const withIndex = (claims: object, statusListIndex: string) => withStatus(claims, { statusListIndex });

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

import { decodeJwt } from 'jose';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { authenticator, registerPasskey } from '../../../../test/app/authenticator.ts';
import {
  actionsOf,
  authorize,
  grantTo,
  registerAgent,
  sharedSandbox,
  startSandbox,
} from '../../../../test/app/flow.ts';
import { personOn } from '../../../../test/app/person.ts';
import type { Developer, Service } from '../../../../test/app/start-app.ts';

const join = sharedSandbox();

/** The exchange of a code that the person has approved. */
async function exchangeOf(developer: Developer, body: object) {
  const { agentId } = await registerAgent(developer);
  const { code } = await authorize(developer, agentId);
  const exchange = () => developer('POST', '/v1/token', { code, agentId, ...body });
  return { agentId, exchange };
}

const verify = async ({ app }: Service, credential: string) =>
  (await app.inject({ method: 'POST', url: '/v1/credentials/verify', body: { credential } })).json();

const present = async ({ app }: Service, sdJwt: string) =>
  (await app.inject({ method: 'POST', url: '/v1/credentials/present', body: { sdJwt } })).json();

const credentialsOf = async (developer: Developer) =>
  (await developer('GET', '/v1/credentials')).json().credentials;

describe('a credential that is asked with a grant', () => {
  test.each(['vc-jwt', 'both'])('as %s comes with the token, and ends with the grant', async (format) => {
    const { acme, service } = await join();
    const { exchange } = await exchangeOf(acme, { credentialFormat: format });

    const answer = await exchange();

    expect(answer.statusCode, answer.body).toBe(201);
    const { grantToken, grantId, verifiableCredential, ...others } = answer.json();
    expect(grantToken).toEqual(expect.any(String));
    expect(others).not.toHaveProperty('sdJwtCredential');
    const [record, ...more] = await credentialsOf(acme);
    expect(more).toEqual([]);
    expect(record).toMatchObject({ grantId, format: 'vc-jwt', credential: verifiableCredential });
    expect(record.expiresAt).toBe(others.grantExpiresAt);
    expect(await verify(service, verifiableCredential)).toMatchObject({ valid: true, vcId: record.id });
    expect((await actionsOf(acme)).slice(-3)).toEqual(['grant.created', 'token.issued', 'vc.issued']);
    await acme('DELETE', `/v1/grants/${grantId}`);
    expect(await verify(service, verifiableCredential)).toMatchObject({ valid: false, code: 'revoked' });
  });

  test('as an SD-JWT shows its claims', async () => {
    const { acme, service } = await join();
    const { exchange } = await exchangeOf(acme, { credentialFormat: 'sd-jwt' });

    const { sdJwtCredential, grantId, ...others } = (await exchange()).json();

    expect(others).not.toHaveProperty('verifiableCredential');
    expect(await present(service, sdJwtCredential)).toMatchObject({
      ...{ valid: true, disclosedClaims: { grantId, principalId: 'user_42' } },
    });
    expect(await actionsOf(acme)).toContain('sd-jwt.issued');
  });

  test('is not there for a caller that asks for a token alone', async () => {
    const { acme } = await join();
    const { exchange } = await exchangeOf(acme, { credentialFormat: 'jwt' });

    const answer = (await exchange()).json();

    expect(answer).not.toHaveProperty('verifiableCredential');
    expect(answer).not.toHaveProperty('sdJwtCredential');
    expect(await credentialsOf(acme)).toEqual([]);
  });

  test('comes with a part of a grant, about that part', async () => {
    const { acme, service } = await join();
    const { grantId, grantToken, agentId } = await grantTo(acme);
    const asked = { parentGrantToken: grantToken, subAgentId: agentId, scopes: ['calendar:read'] };

    const child = (
      await acme('POST', '/v1/grants/delegate', { ...asked, credentialFormat: 'vc-jwt' })
    ).json();

    const { payload } = await verify(service, child.verifiableCredential);
    expect(payload.credentialSubject).toMatchObject({
      ...{ grantId: child.grantId, scopes: ['calendar:read'], delegationDepth: 1 },
    });
    await acme('DELETE', `/v1/grants/${grantId}`);
    expect(await verify(service, child.verifiableCredential)).toMatchObject({ code: 'revoked' });
  });

  test('stands or falls with the exchange: a code whose credential cannot be made stays good', async () => {
    const { acme, service } = await join();
    const { exchange } = await exchangeOf(acme, { credentialFormat: 'vc-jwt' });
    const rename = (from: string, to: string) =>
      sql`alter function ${sql.ref(from)}(text) rename to ${sql.ref(to)}`.execute(service.db);
    await rename('free_status_place', 'free_status_place_away');
    const failed = await exchange();
    await rename('free_status_place_away', 'free_status_place');

    expect(failed.statusCode).toBe(500);
    expect((await acme('GET', '/v1/grants')).json().grants).toEqual([]);
    expect((await exchange()).json()).toHaveProperty('verifiableCredential');
  });

  test('is signed again when another one has its place', async () => {
    const { acme, service } = await join();
    const { grantId } = await grantTo(acme);
    const taken = (await acme('POST', '/v1/credentials', { grantId, format: 'vc-jwt' })).json();
    const { exchange } = await exchangeOf(acme, { credentialFormat: 'vc-jwt' });
    // The first look gives the place that is taken, and each later one another.
    await sql`alter function free_status_place(text) rename to truly_free_status_place`.execute(service.db);
    await sql`create sequence looks`.execute(service.db);
    await sql
      .raw(`create function free_status_place(p text) returns table (list_id text, idx integer) language sql as
        $$ select l.list_id, case when nextval('looks') = 1 then ${taken.statusListIdx} else l.idx end
          from truly_free_status_place(p) l $$`)
      .execute(service.db);

    const answer = await exchange();

    await sql`drop function free_status_place(text)`.execute(service.db);
    await sql`alter function truly_free_status_place(text) rename to free_status_place`.execute(service.db);
    const looks = await sql<{ last: string }>`select last_value as last from looks`.execute(service.db);
    expect(looks.rows).toEqual([{ last: '2' }]);
    expect(answer.statusCode, answer.body).toBe(201);
    const places = (await credentialsOf(acme)).map(
      ({ statusListId, statusListIdx }: { statusListId: string; statusListIdx: number }) =>
        `${statusListId} ${statusListIdx}`,
    );
    expect(new Set(places).size).toBe(2);
    expect(places).toContain(`${taken.statusListId} ${taken.statusListIdx}`);
  });
});

describe('the member `vc` of older clients', () => {
  test('repeats the credential, unless the operator leaves it out', async () => {
    const { acme } = await join();
    const { exchange } = await exchangeOf(acme, { credentialFormat: 'vc-jwt' });
    const claims = decodeJwt((await exchange()).json().verifiableCredential);
    const { '@context': context, type, credentialSubject, credentialStatus } = claims;
    expect(claims.vc).toEqual({ '@context': context, type, credentialSubject, credentialStatus });

    const strict = await startSandbox({ env: { GRANT_TOKEN_LEGACY_CLAIMS: 'false' } });
    const later = await exchangeOf(strict.acme, { credentialFormat: 'vc-jwt' });
    const { verifiableCredential } = (await later.exchange()).json();
    expect(decodeJwt(verifiableCredential)).not.toHaveProperty('vc');
    expect(await verify(strict.service, verifiableCredential)).toMatchObject({ valid: true });
  });
});

test('a credential names the passkey with which the person approved', async () => {
  const { service } = await join();
  const developer = await service.asDeveloper();
  await developer('PATCH', '/v1/me', { consentMode: 'passkey' });
  const { agentId } = await registerAgent(developer);
  const device = authenticator();
  const { id: credentialId } = await registerPasskey(developer, device);
  const made = await authorize(developer, agentId);
  const person = personOn(service);
  await person.open(made.consentUrl);
  const step = (name: string, body: object) =>
    person.call('POST', `/v1/consent/${made.id}/passkey/${name}`, { body });
  const { challengeId, publicKey } = (await step('options', {})).json();
  await step('verify', { challengeId, response: device.get(publicKey) });
  const { code } = (await person.approve(String(made.id))).json();
  const asked = { code, agentId, credentialFormat: 'vc-jwt' };
  const { verifiableCredential, grantToken } = (await developer('POST', '/v1/token', asked)).json();

  const evidence = [
    { type: 'PasskeyAssertion', credentialId, userVerified: true, verifiedAt: '2026-01-01T00:00:00.000Z' },
  ];
  expect(decodeJwt(verifiableCredential)).toMatchObject({ evidence, vc: { evidence } });
  const part = { parentGrantToken: grantToken, subAgentId: agentId, scopes: ['calendar:read'] };
  const child = (
    await developer('POST', '/v1/grants/delegate', { ...part, credentialFormat: 'vc-jwt' })
  ).json();
  expect(decodeJwt(child.verifiableCredential)).not.toHaveProperty('evidence');
});

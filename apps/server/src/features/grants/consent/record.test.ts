import { createHash } from 'node:crypto';
import { canonicalJson } from '@behest/protocol/canonical-json';
import { importJWK, jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import { authenticator, registerPasskey } from '../../../../test/app/authenticator.ts';
import {
  authorize,
  consentsOf,
  entriesOf,
  grantTo,
  registerAgent,
  sharedSandbox,
} from '../../../../test/app/flow.ts';
import { newVoucher, personOn, startAsking } from '../../../../test/app/person.ts';
import type { Developer, Service } from '../../../../test/app/start-app.ts';

const joinSandbox = sharedSandbox();

const AT = '2026-01-01T00:00:00.000Z';
const digestOf = (text: string) => createHash('sha256').update(text).digest('base64url');

/** Somebody opens the link of a request, and approves it. */
async function approveByLink(service: Service, acme: Developer, request: object = {}) {
  const { agentId } = await registerAgent(acme);
  const { id, consentUrl } = await authorize(acme, agentId, request);
  const person = personOn(service);
  await person.open(consentUrl);
  expect((await person.approve(String(id))).statusCode).toBe(200);
}

describe('the record of an approval', () => {
  test('has what the person saw and what they took out, and the entry has its hash', async () => {
    const { acme, consent } = await startAsking();
    const asked = {
      scopes: ['email:read', 'email:send'],
      expiresIn: '7d',
      budget: { amount: '20', currency: 'EUR' },
    };
    const { grantId } = await consent(asked, { approved: { scopes: ['email:read'], expiresIn: '1d' } });
    const { authRequestId } = (await acme('GET', `/v1/grants/${grantId}`)).json();

    const [record, ...others] = await consentsOf(acme, 'user_42');

    expect(others).toEqual([]);
    expect(record?.['consent/1']).toMatchObject({
      authRequestId,
      agentName: 'Travel booker',
      developerName: 'Acme',
      scopes: ['email:read', 'email:send'],
      scopeDescriptions: ['Read your email', 'Send email in your name'],
      budget: { amount: '20.0000', currency: 'EUR' },
      expiresIn: '7d',
      language: 'en',
      sandbox: false,
    });
    expect(record?.principalId).toBe('user_42');
    expect(record?.decision).toEqual({
      scopes: ['email:read'],
      removedScopes: ['email:send'],
      expiresIn: '1d',
      tools: null,
      arguments: null,
      decidedAt: AT,
    });
    expect(new Set(record?.salts).size).toBe(4);
    expect(record?.salts[0]).toMatch(/^[\w-]{22}$/);
    expect(await entriesOf(acme, 'authorization.approved')).toMatchObject([
      { metadata: { method: 'developer', narrowed: true, consentHash: record?.hash } },
    ]);
  });

  test('has the developer’s word that it was this person, which anybody can check', async () => {
    const { service, acme, consent } = await startAsking();
    await consent();

    const [record] = await consentsOf(acme, 'user_42');

    const { mode, at, hint, key } = Object(record?.proof);
    expect([mode, at]).toEqual(['developer', AT]);
    const { payload } = await jwtVerify(hint, await importJWK(key, 'ES256'), {
      currentDate: service.clock(),
    });
    const areq = Object(record?.['consent/1']).authRequestId;
    expect(payload).toMatchObject({ iss: acme.developerId, sub: 'user_42', areq });
  });

  test('has the passkey’s signature over what was shown and decided', async () => {
    const { service } = await joinSandbox();
    const acme = await service.asDeveloper({ mode: 'live' });
    await acme('PATCH', '/v1/me', { consentMode: 'passkey' });
    const { agentId } = await registerAgent(acme);
    const device = authenticator();
    await registerPasskey(acme, device);
    const { id, consentUrl } = await authorize(acme, agentId);
    const person = personOn(service);
    await person.open(consentUrl);
    const decision = { scopes: ['calendar:read'] };
    const post = (step: string, body: object) =>
      person.call('POST', `/v1/consent/${id}/passkey/${step}`, { body });
    const { challengeId, publicKey } = (await post('options', { decision })).json();
    await post('verify', { challengeId, response: device.get(publicKey) });
    expect((await person.approve(String(id), decision)).statusCode).toBe(200);

    const [record] = await consentsOf(acme, 'user_42');

    const { 'consent/1': shown, principalId, decision: decided, proof } = Object(record);
    const { decidedAt, ...rest } = decided;
    const digest = digestOf(canonicalJson({ shown, principalId, decision: rest }));
    const { nonce, clientDataJSON } = proof;
    const challenge = canonicalJson({ v: 1, use: 'behest.consent', areq: id, digest, nonce });
    expect(JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()).challenge).toBe(
      digestOf(challenge),
    );
    expect(proof).toMatchObject({ mode: 'passkey', rpId: 'auth.test', origin: 'https://auth.test' });
    expect(decidedAt).toBe(AT);
  });

  test('says where nobody proved who they are, and where the sandbox let somebody decide', async () => {
    const { service, acme: sandbox } = await joinSandbox();
    const live = await service.asDeveloper({ mode: 'live' });

    await approveByLink(service, live);
    await approveByLink(service, sandbox, { autoApprove: false });

    expect(await consentsOf(live, 'user_42')).toMatchObject([{ proof: { mode: 'link', at: AT } }]);
    expect(await consentsOf(sandbox, 'user_42')).toMatchObject([
      { proof: { mode: 'sandbox', at: AT, page: true } },
    ]);
  });

  test('is not made where a policy or the sandbox approved by itself, since nobody was shown anything', async () => {
    const { service, acme: sandbox } = await joinSandbox();
    const live = await service.asDeveloper({ mode: 'live' });
    await live('PATCH', '/v1/me', { policyAutoApproval: true, consentKeys: [(await newVoucher()).jwk] });
    await live('POST', '/v1/policies', { name: 'Reads', effect: 'allow', scopes: ['calendar:read'] });

    for (const [acme, method] of [[sandbox, 'sandbox'] as const, [live, 'policy'] as const]) {
      await grantTo(acme, { scopes: ['calendar:read'] });
      expect(await consentsOf(acme, 'user_42')).toEqual([]);
      const [entry] = await entriesOf(acme, 'authorization.approved');
      expect(entry?.metadata).toMatchObject({ method });
      expect(entry?.metadata).not.toHaveProperty('consentHash');
    }
  });

  test('goes with its person, and with what is too old, and leaves its hash', async () => {
    const { acme, consent, service } = await startAsking();
    const [gone] = [await consent({ principalId: 'ada' }), await consent({ principalId: 'bob' })];
    await acme('DELETE', `/v1/grants/${gone.grantId}`);
    const before = await entriesOf(acme, 'authorization.approved');

    await acme('POST', '/v1/audit/erasures', { principalId: 'ada' });
    await service.runJob('erasure of audit entries');

    expect(await consentsOf(acme, 'ada')).toEqual([]);
    const [bobs] = await consentsOf(acme, 'bob');
    expect(bobs?.principalId).toBe('bob');
    const after = await entriesOf(acme, 'authorization.approved');
    expect(after.map(({ metadata }) => metadata.consentHash)).toEqual(
      before.map(({ metadata }) => metadata.consentHash),
    );

    await acme('PATCH', '/v1/me', { auditRetentionDays: 30 });
    service.advance(31 * 86_400);
    await service.runJob('erasure of audit entries');
    expect(await consentsOf(acme, 'bob')).toEqual([]);
  });
});

test('what a passkey signed goes with its person', async () => {
  const { service } = await joinSandbox();
  const acme = await service.asDeveloper({ mode: 'live' });
  await acme('PATCH', '/v1/me', { consentMode: 'passkey' });
  const { agentId } = await registerAgent(acme);
  const device = authenticator();
  await registerPasskey(acme, device);
  const { id, consentUrl } = await authorize(acme, agentId);
  const person = personOn(service);
  await person.open(consentUrl);
  const post = (step: string, body: object) =>
    person.call('POST', `/v1/consent/${id}/passkey/${step}`, { body });
  const { challengeId, publicKey } = (await post('options', {})).json();
  await post('verify', { challengeId, response: device.get(publicKey) });
  await person.approve(String(id));
  const kept = () =>
    service.db
      .selectFrom('passkeyEvidence')
      .select('authRequestId')
      .where('developerId', '=', acme.developerId)
      .execute();
  expect(await kept()).toEqual([{ authRequestId: id }]);

  await acme('POST', '/v1/audit/erasures', { principalId: 'user_42' });
  await service.runJob('erasure of audit entries');

  expect(await kept()).toEqual([]);
});

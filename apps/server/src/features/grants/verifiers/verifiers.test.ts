import { randomBytes } from 'node:crypto';
import { keySetOf } from '@behest/protocol/key-set';
import {
  type ChainPosition,
  createVerifierKey,
  signPosition,
  verifyRevocationStatement,
} from '@behest/protocol/revocation-statement';
import { describe, expect, test, vi } from 'vitest';
import { actionsOf, entriesOf, grantTo, sharedSandbox, startSandbox } from '../../../../test/app/flow.ts';
import type { Call, Developer, Service } from '../../../../test/app/start-app.ts';

const sandbox = sharedSandbox();

/** A verifier that answers by hand. */
async function newVerifier(acme: Call, name = 'gateway') {
  const { publicKey, privateKey } = await createVerifierKey();
  const registered = await acme('POST', '/v1/verifiers', { name, publicKey });
  const verifierId = String(registered.json().verifierId);
  const sign = (position: ChainPosition, as = verifierId) =>
    signPosition({ verifierId: as, ...position }, privateKey, new Date());
  const renew = (position?: string) =>
    acme('PUT', `/v1/verifiers/${verifierId}/lease`, position === undefined ? {} : { position });
  /** Waits until the service asks it for something. */
  const isAsked = () =>
    vi.waitFor(
      async () => {
        const { asked } = (await renew()).json();
        expect(asked).not.toBeNull();
        return asked as ChainPosition;
      },
      { timeout: 8_000 },
    );
  return { verifierId, registered, sign, renew, isAsked };
}

const stop = (acme: Developer, grantId: string, query = '') =>
  acme('DELETE', `/v1/grants/${grantId}?wait=confirmed${query}`);

/** Checks a statement as an outsider does, with the published keys. */
async function check({ app }: Service, statement: unknown) {
  const { keys } = (await app.inject('/.well-known/jwks.json')).json();
  const { issuer } = (await app.inject('/.well-known/oauth-authorization-server')).json();
  const set = keySetOf({ keys });
  return verifyRevocationStatement(statement, {
    ...{ keys: () => set, issuer, now: new Date() },
    verifySignature: async ({ alg, key, signed, signature }) => {
      const algorithm =
        alg === 'RS256'
          ? { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
          : { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
      const imported = await crypto.subtle.importKey('jwk', key as object, algorithm, false, ['verify']);
      return crypto.subtle.verify(algorithm, imported, signature, signed);
    },
  });
}

describe('a revocation that waits', () => {
  test('is answered when every verifier has confirmed, with a statement that anybody can check', async () => {
    const { service, acme } = await sandbox();
    const { grantId, agentId } = await grantTo(acme);
    const [gateway, worker] = [await newVerifier(acme), await newVerifier(acme, 'worker 2')];
    for (const each of [gateway, worker]) {
      expect((await each.renew()).json()).toEqual({ leaseSeconds: 30, asked: null });
    }

    const answer = stop(acme, grantId);
    const asked = await gateway.isAsked();
    expect((await acme('GET', `/v1/grants/${grantId}`)).json().status).toBe('revoked');
    for (const each of [gateway, worker]) {
      expect((await each.renew()).json()).toEqual({ leaseSeconds: 0, asked });
      expect((await each.renew(await each.sign(asked))).json()).toEqual({ leaseSeconds: 30, asked: null });
    }

    const stated = await answer;
    expect(stated.statusCode).toBe(200);
    const { statement, ...shown } = stated.json();
    const [entry] = await entriesOf(acme, 'grant.revoked');
    const confirmed = { state: 'confirmed', at: expect.any(String) };
    expect(shown).toEqual({
      ...{ grantId, revokedAt: entry?.timestamp, complete: true, position: asked },
      verifiers: [
        { verifierId: gateway.verifierId, name: 'gateway', ...confirmed },
        { verifierId: worker.verifierId, name: 'worker 2', ...confirmed },
      ].toSorted((one, other) => (one.verifierId < other.verifierId ? -1 : 1)),
    });
    const checked = await check(service, statement);
    expect(checked).toMatchObject({
      ok: true,
      claims: {
        ...{ developerId: acme.developerId, grantId, complete: true, position: asked },
        entry: { id: entry?.id, seq: entry?.seq, hash: entry?.hash, timestamp: entry?.timestamp },
      },
    });
    expect(asked.seq).toBeGreaterThanOrEqual(Number(entry?.seq));
    expect((await acme('GET', `/v1/grants/${grantId}/revocation`)).json()).toEqual(stated.json());
    const [said] = await entriesOf(acme, 'revocation.stated');
    expect(said).toMatchObject({ grantId, agentId });
    expect(said?.metadata).toMatchObject({ complete: true, confirmed: 2, lapsed: 0, unconfirmed: 0 });
    expect((await stop(acme, grantId)).json()).toEqual(stated.json());
    expect(await entriesOf(acme, 'revocation.stated')).toHaveLength(1);
  });

  test('is answered at once without verifiers, and with 204 and no statement when it does not wait', async () => {
    const { acme } = await sandbox();
    const [one, other] = [await grantTo(acme), await grantTo(acme)];

    expect((await stop(acme, one.grantId)).json()).toMatchObject({ complete: true, verifiers: [] });
    expect((await acme('DELETE', `/v1/grants/${other.grantId}`)).statusCode).toBe(204);
    expect((await acme('GET', `/v1/grants/${other.grantId}/revocation`)).statusCode).toBe(404);
    expect(await actionsOf(acme)).not.toContain('revocation.confirmation_requested');
  });

  test('names who has not confirmed, until the lease of that verifier has ended', async () => {
    const { service, acme, advance } = await startSandbox();
    const { grantId } = await grantTo(acme);
    const silent = await newVerifier(acme, 'silent');
    await silent.renew();

    const early = (await stop(acme, grantId, '&waitSeconds=0')).json();
    expect(early.complete).toBe(false);
    expect(early.verifiers).toMatchObject([{ name: 'silent', state: 'unconfirmed' }]);
    expect((await check(service, early.statement)).ok).toBe(true);
    expect((await silent.renew()).json().leaseSeconds).toBe(0); // it gets no lease any more, so the old one ends
    advance(36);

    const late = (await stop(acme, grantId, '&waitSeconds=0')).json();
    const [{ at: until }] = early.verifiers;
    expect(late).toMatchObject({ complete: true, verifiers: [{ state: 'lapsed', at: until }] });
    expect((await acme('GET', `/v1/grants/${grantId}/revocation`)).json()).toEqual(late);
  });

  test('waits for the grants that were delegated from it too, and for no verifier that registers later', async () => {
    const { acme } = await sandbox();
    const { grantId, grantToken } = await grantTo(acme);
    const { agentId } = (await acme('POST', '/v1/agents', { name: 'Helper' })).json();
    const child = { parentGrantToken: grantToken, subAgentId: agentId, scopes: ['calendar:read'] };
    await acme('POST', '/v1/grants/delegate', child);
    const gateway = await newVerifier(acme);
    await gateway.renew();

    const answer = stop(acme, grantId);
    const asked = await gateway.isAsked();
    await (await newVerifier(acme, 'late')).renew();
    await gateway.renew(await gateway.sign(asked));

    expect((await answer).json().verifiers).toMatchObject([{ name: 'gateway', state: 'confirmed' }]);
    const revoked = await entriesOf(acme, 'grant.revoked');
    expect(revoked).toHaveLength(2);
    for (const { seq } of revoked) expect(seq).toBeLessThanOrEqual(asked.seq);
  });
});

describe('a confirmation', () => {
  test('holds only with the key of the verifier, in its name, about the position that is asked', async () => {
    const { acme } = await sandbox();
    const [one, other] = [await newVerifier(acme), await newVerifier(acme)];
    for (const each of [one, other]) await each.renew();
    const { grantId } = await grantTo(acme);
    await stop(acme, grantId, '&waitSeconds=0');
    const asked = await one.isAsked();

    for (const forged of [
      await other.sign(asked, one.verifierId), // another key
      await other.sign(asked), // another verifier
      `${(await one.sign(asked)).slice(0, -4)}AAAA`,
      'a.b.c',
    ]) {
      expect((await one.renew(forged)).statusCode).toBe(400);
    }
    for (const wrong of [
      { ...asked, seq: asked.seq - 1 },
      { ...asked, seq: asked.seq + 1 },
      { ...asked, hash: randomBytes(32).toString('hex') },
    ]) {
      expect((await one.renew(await one.sign(wrong))).json()).toEqual({ leaseSeconds: 0, asked });
    }
    expect((await stop(acme, grantId, '&waitSeconds=0')).json().verifiers).toMatchObject([
      { state: 'unconfirmed' },
      { state: 'unconfirmed' },
    ]);
  });

  test('of an earlier position, sent again, confirms nothing later', async () => {
    const { acme } = await sandbox();
    const gateway = await newVerifier(acme);
    await gateway.renew();
    const [one, other] = [await grantTo(acme), await grantTo(acme)];
    await stop(acme, one.grantId, '&waitSeconds=0');
    const first = await gateway.sign(await gateway.isAsked());
    await gateway.renew(first);
    await stop(acme, other.grantId, '&waitSeconds=0');

    expect((await gateway.renew(first)).json().leaseSeconds).toBe(0);

    const statement = (await stop(acme, other.grantId, '&waitSeconds=0')).json();
    expect(statement.verifiers).toMatchObject([{ state: 'unconfirmed' }]);
    await gateway.renew(await gateway.sign(await gateway.isAsked()));
    expect((await stop(acme, one.grantId, '&waitSeconds=0')).json().complete).toBe(true);
    expect((await stop(acme, other.grantId, '&waitSeconds=0')).json().complete).toBe(true);
  });

  test('and a lease are only for the credential that registered the verifier', async () => {
    const { acme } = await sandbox();
    const gateway = await newVerifier(acme);
    const { grantId } = await grantTo(acme);
    await stop(acme, grantId, '&waitSeconds=0');
    const position = await gateway.sign(await gateway.isAsked());
    const other = await acme.asRuntime();

    for (const body of [{}, { position }]) {
      const answer = await other('PUT', `/v1/verifiers/${gateway.verifierId}/lease`, body);
      expect([answer.statusCode, answer.json().code]).toEqual([404, 'NOT_FOUND']);
    }
    expect((await gateway.renew()).json().leaseSeconds).toBe(0);
    expect((await gateway.renew(position)).json()).toEqual({ leaseSeconds: 30, asked: null });
  });

  test('of another account is unknown, and so are its verifiers and its statements', async () => {
    const { service, acme } = await sandbox();
    const mallory = await service.asDeveloper({ mode: 'sandbox' });
    const gateway = await newVerifier(acme);
    const foreign = await newVerifier(mallory, 'foreign');
    for (const each of [gateway, foreign]) await each.renew();
    const { grantId } = await grantTo(acme);

    const renewal = await mallory('PUT', `/v1/verifiers/${gateway.verifierId}/lease`, {});
    expect(renewal.statusCode).toBe(404);
    expect((await stop(mallory, grantId)).statusCode).toBe(404);
    const stated = (await stop(acme, grantId, '&waitSeconds=0')).json();
    expect(stated.verifiers).toMatchObject([{ name: 'gateway' }]);
    expect((await mallory('GET', `/v1/grants/${grantId}/revocation`)).statusCode).toBe(404);
    expect((await foreign.renew()).json().asked).toBeNull();
  });
});

test('an account has at most 50 verifiers, and a forgotten one makes room', async () => {
  const { acme, advance } = await startSandbox();
  for (let made = 0; made < 50; made += 1) await newVerifier(acme);

  const refused = (await newVerifier(acme)).registered;
  expect(refused.statusCode).toBe(429);
  expect(refused.json()).toMatchObject({ code: 'TOO_MANY_CONNECTIONS', details: { limit: 50 } });
  advance(301);
  expect((await newVerifier(acme)).registered.statusCode).toBe(201);
});

test('a registration with another kind of key, another member or a name that pages cannot show is refused', async () => {
  const { acme } = await sandbox();
  const { publicKey } = await createVerifierKey();
  for (const body of [
    { name: 'a' },
    { name: 'a', publicKey: { ...publicKey, crv: 'P-384' } },
    { name: 'a', publicKey: { ...publicKey, d: publicKey.x } },
    { name: 'a', publicKey: { ...publicKey, x: 'short' } },
    { name: '', publicKey },
    { name: '\u202egateway', publicKey },
    { name: 'a', publicKey, leaseSeconds: 9 },
  ]) {
    expect((await acme('POST', '/v1/verifiers', body)).statusCode).toBe(400);
  }
});

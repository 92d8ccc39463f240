import { createHmac, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { grantTo, openSession, partsOf, refusalOf, registerAgent, signedBy } from '../app/flow.ts';
import { type Developer, type Service, startApp } from '../app/start-app.ts';

let service: Service;
let acme: Developer;
let genuine: string;
let other: string;
let helper: string;
let listener: { url: string; calls: () => number };
beforeAll(async () => {
  service = await startApp({ isShared: true });
  acme = await service.asDeveloper({ mode: 'sandbox' });
  genuine = (await grantTo(acme)).grantToken;
  other = (await grantTo(acme)).grantToken;
  helper = (await registerAgent(acme, 'Helper')).agentId;
  let calls = 0;
  const server = createServer((socket) => {
    calls += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  listener = { url: `http://127.0.0.1:${port}/jwks.json`, calls: () => calls };
  return async () => {
    server.close();
    await service.stop();
  };
});

const encoded = (part: object | string) =>
  Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');
const said = () => partsOf(genuine);
const attacker = generateKeyPairSync('rsa', { modulusLength: 2048 });
const attackersEc = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const attackersJwk = attacker.publicKey.export({ format: 'jwk' });

/** A token with these members in its header, signed by the attacker. */
function forged(header: object, payload: object = said().payload): string {
  const text = `${encoded({ ...said().header, ...header })}.${encoded(payload)}`;
  return `${text}.${sign('sha256', Buffer.from(text), attacker.privateKey).toString('base64url')}`;
}

function keyedWith(secret: string | Buffer, bits: number): string {
  const text = `${encoded({ ...said().header, alg: `HS${bits}` })}.${encoded(said().payload)}`;
  return `${text}.${createHmac(`sha${bits}`, secret).update(text).digest('base64url')}`;
}

async function ownPublicKey() {
  const { keys } = (await service.app.inject('/.well-known/jwks.json')).json();
  const key = createPublicKey({ key: keys[0], format: 'jwk' });
  return {
    jwk: JSON.stringify(keys[0]),
    pem: (type: 'spki' | 'pkcs1') => key.export({ type, format: 'pem' }),
  };
}

const attacks: Record<string, () => string | Promise<string>> = {
  'J1 `alg` none and no signature': () => `${encoded({ alg: 'none' })}.${encoded(said().payload)}.`,
  'J1 `alg` nOnE and the genuine signature': () =>
    [encoded({ ...said().header, alg: 'nOnE' }), ...genuine.split('.').slice(1)].join('.'),
  'J1 genuinely signed and `alg` none': () => signedBy(service, said().payload, { alg: 'none' }),
  'J2 HS256 keyed with the PEM': async () => keyedWith(String((await ownPublicKey()).pem('spki')), 256),
  'J2 HS384 keyed with the PEM without its last line end': async () =>
    keyedWith(String((await ownPublicKey()).pem('spki')).trim(), 384),
  'J2 HS512 keyed with the PKCS#1 PEM': async () =>
    keyedWith(String((await ownPublicKey()).pem('pkcs1')), 512),
  'J2 HS256 keyed with the JWK': async () => keyedWith((await ownPublicKey()).jwk, 256),
  'J2 HS256 keyed with nothing': () => keyedWith('', 256),
  'J3 genuinely signed as PS256': () => signedBy(service, said().payload, { alg: 'PS256' }),
  'J4 ES256 under the id of the RSA key': () => {
    const text = `${encoded({ ...said().header, alg: 'ES256' })}.${encoded(said().payload)}`;
    const key = { key: attackersEc.privateKey, dsaEncoding: 'ieee-p1363' as const };
    return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
  },
  'J5 a key id that is a path': () => forged({ kid: '../../dev/null' }),
  'J5 a key id that is SQL': () => forged({ kid: "x' union select 'key'--" }),
  'J5 a key id that is an address': () => forged({ kid: listener.url }),
  'J5 a key id that every object has': () => forged({ kid: '__proto__' }),
  'J5 a key id of 10 kB': () => forged({ kid: 'k'.repeat(10_000) }),
  'J6 the attacker’s key in the header': () => forged({ jwk: attackersJwk }),
  'J6 the attacker’s key by address': () => forged({ jku: listener.url }),
  'J6 a certificate by address beside a genuine signature': () =>
    signedBy(service, said().payload, { x5u: listener.url }),
  'J7 a token within a token': () => signedBy(service, said().payload, { cty: 'JWT' }),
  'J8 a person named twice, genuinely signed': async () => {
    const { alg, kid, sign: signs } = service.keyRing.signer();
    const payload = JSON.stringify(said().payload).replace('{', '{"sub":"admin",');
    const text = `${encoded({ alg, kid, typ: 'at+jwt' })}.${encoded(payload)}`;
    return `${text}.${(await signs(Buffer.from(text))).toString('base64url')}`;
  },
  'J9 in the JSON form': () => {
    const [header, payload, signature] = genuine.split('.');
    return JSON.stringify({ protected: header, payload, signature });
  },
  'J9 20,000 levels': () =>
    `${genuine.split('.')[0]}.${encoded('['.repeat(12_000))}.${genuine.split('.')[2]}`,
  'J11 a signature of zeros': () => genuine.replace(/[^.]+$/, Buffer.alloc(256).toString('base64url')),
  'J14 another payload under the signature': () => {
    const [header, , signature] = genuine.split('.');
    return [header, encoded({ ...said().payload, scp: ['*'], scope: '*' }), signature].join('.');
  },
  'J14 the payload of another token': () =>
    genuine
      .split('.')
      .map((part, at) => (at === 1 ? other.split('.')[1] : part))
      .join('.'),
  'J15 without an end': () => signedBy(service, { ...said().payload, exp: undefined }),
  'J16 for a service whose name begins alike': () =>
    signedBy(service, { ...said().payload, iss: `${said().payload.iss}.evil.example` }),
  'J17 a checkpoint of the audit log': async () => (await acme('GET', '/v1/audit/head')).json().checkpoint,
  'J17 the session of a person': async () => (await openSession(acme)).json().sessionToken,
  'J17 what a grant token says, as a checkpoint': () =>
    signedBy(service, said().payload, { typ: 'audit-checkpoint+jwt' }),
  'J17 what a grant token says, as the session of a person': () =>
    signedBy(service, said().payload, { typ: 'principal-session+jwt' }),
  'J17 what a grant token says, as a signal': () =>
    signedBy(service, said().payload, { typ: 'secevent+jwt' }),
  'J20 a month for a key id': () => forged({ kid: 'service-2026-01' }),
  'J20 no key id': () => forged({ kid: undefined }),
};

describe('a token that is forged', () => {
  test.each(Object.keys(attacks))('is refused by every route, and ends nothing: %s', async (attack) => {
    const token = String(await attacks[attack]?.());
    const ask = async (url: string) => (await acme('POST', url, { token })).body;
    const bearer = { authorization: `Bearer ${token}` };

    expect(await ask('/v1/tokens/verify')).toBe('{"valid":false}');
    expect(await ask('/v1/tokens/introspect')).toBe('{"active":false}');
    expect((await acme('POST', '/v1/grants/verify', { token })).body).not.toContain('user_42');
    expect((await acme('POST', '/v1/tokens/revoke', { token })).statusCode).toBeGreaterThanOrEqual(400);
    expect((await service.app.inject({ url: '/v1/me', headers: bearer })).statusCode).toBe(401);
    const exchange = {
      method: 'POST',
      url: '/v1/vault/credentials/exchange',
      headers: bearer,
      body: { service: 'github' },
    } as const;
    expect((await service.app.inject(exchange)).statusCode).toBe(401);
    const part = { parentGrantToken: token, subAgentId: helper, scopes: ['calendar:read'] };
    expect(refusalOf(await acme('POST', '/v1/grants/delegate', part))).toBe(
      '400 INVALID_GRANT parent_invalid',
    );
    const verdict = await acme('POST', '/v1/tokens/verify', { token: genuine });
    expect(verdict.json()).toMatchObject({ valid: true, principalId: 'user_42' });
    expect(listener.calls()).toBe(0);
  });

  test('J1, J2, J3, J4, J5, J6, J7, J8, J9, J11, J14, J15, J16, J17, J20: each line is tried over HTTP', () => {
    const tried = new Set(Object.keys(attacks).map((name) => name.split(' ')[0]));

    expect([...tried].join()).toBe('J1,J2,J3,J4,J5,J6,J7,J8,J9,J11,J14,J15,J16,J17,J20');
  });
});

test('J17 only the verifier’s own primitive verifies signatures', () => {
  const root = join(import.meta.dirname, '../../../..');
  const sources = globSync('{apps,packages}/*/src/**/*.ts', { cwd: root }).filter(
    (path) => !path.endsWith('.test.ts'),
  );
  const codeOf = (path: string) => readFileSync(join(root, path), 'utf8').replaceAll(/^ *\*.*$/gm, ''); // an example in a docblock is no code
  const verifies =
    /\bcreateVerify\b|\bsubtle\b|from '(jose|jsonwebtoken)'|import \{[^}]*\bverify\b[^}]*\} from 'node:crypto'/;

  expect(new Set(sources.filter((path) => verifies.test(codeOf(path))))).toEqual(
    new Set([
      'apps/console/src/pages/webhooks/check-signature.ts', // what the reader pastes, with their secret, in their browser
      'packages/cli/src/transparency/log-client.ts', // notes of logs, by the keys of logs
      'apps/server/src/features/record/transparency/transparency.rules.ts', // notes of logs and witnesses, by their keys
      'packages/protocol/src/revocation-statement.ts', // confirmations of verifiers, by the keys that they registered
      'packages/sdk/src/dpop.ts', // makes proofs alone
      'packages/sdk/src/verify/signatures.ts', // the primitive of the SDK, for the same verifier
      'packages/protocol/src/canonical-json.ts', // hashes alone
      'apps/server/src/features/calls/approvers/web-push.ts', // signs alone
      'apps/server/src/features/vault/providers/client.ts', // signs alone
      'apps/server/src/features/vault/providers/id-token.ts', // ID tokens of upstreams, by their keys
      'apps/server/src/features/vault/providers/registration.ts', // makes keys alone
      'apps/server/src/features/service/keys/keys.rules.ts',
      'apps/server/src/features/people/sso/keyset.ts', // ID tokens of identity providers, by their keys
      'apps/server/src/features/people/signals/keys.ts', // signals of transmitters, by their keys
      'apps/server/src/features/extras/wallet-authorizations/authorize.ts', // reads what the service has stored
      'apps/server/src/features/extras/verifiable-credentials/present.ts', // key bindings, by the keys of holders
      'apps/server/src/features/extras/passports/read.ts', // reads what the service has stored
      'apps/server/src/features/oauth/oauth/assertion.ts', // assertions of clients, by their keys
      'apps/server/src/features/grants/tokens/proof.ts', // proofs of possession, by the keys in them
      'packages/sdk/src/verify/dpop-proof.ts', // proofs of possession, by the keys in them
      'packages/sdk/src/testing/mock-routes.ts', // signs alone
      'packages/sdk/src/testing/test-issuer.ts', // signs alone
      'apps/server/src/features/people/sso/assertion.ts', // assertions of identity providers, by their keys
      'apps/server/src/features/oauth/workloads/prove.ts', // JWTs of platforms, by their keys
      'apps/server/src/features/oauth/oauth/client.ts', // the type of a key alone
      'apps/server/src/features/oauth/oauth/described.ts', // the type of a key alone
      'apps/server/src/features/oauth/oauth/documents.ts', // the type of a key alone
    ]),
  );
});

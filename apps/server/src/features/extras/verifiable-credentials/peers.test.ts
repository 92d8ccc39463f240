import { createHash, generateKeyPairSync, type KeyObject, webcrypto } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { Bitstring } from '@digitalbazaar/bitstring';
import { createVerifyCryptosuite } from '@digitalbazaar/eddsa-jcs-2022-cryptosuite';
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc';
import { decode } from 'base58-universal';
import {
  createLocalJWKSet,
  decodeJwt,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JSONWebKeySet,
  type JWK,
  jwtVerify,
  SignJWT,
} from 'jose';
import { describe, expect, test } from 'vitest';
import { grantTo, startSandbox } from '../../../../test/app/flow.ts';
import type { Service } from '../../../../test/app/start-app.ts';

const NONCE = 'n-of-the-verifier';

const sandboxWith = (alg: 'RS256' | 'ES256') =>
  startSandbox({
    env: {
      JWT_SIGNING_ALG: alg,
      EC_PRIVATE_KEY: pem(generateKeyPairSync('ec', { namedCurve: 'P-256' })),
      ED25519_PRIVATE_KEY: pem(generateKeyPairSync('ed25519')),
      GRANT_TOKEN_LEGACY_CLAIMS: 'false',
      SIGNING_KEY_ACTIVATION_DELAY_SECONDS: '0',
    },
  });

/** Credentials of one grant, and all that a verifier needs of the service. It asks the service for nothing else. */
async function issued(alg: 'RS256' | 'ES256') {
  const { acme, service } = await sandboxWith(alg);
  const { grantId } = await grantTo(acme);
  const holder = await generateKeyPair('ES256');
  const issue = async (body: object) => (await acme('POST', '/v1/credentials', { grantId, ...body })).json();
  const vc = await issue({ format: 'vc-jwt' });
  const sdJwt = await issue({ format: 'sd-jwt', holderJwk: await exportJWK(holder.publicKey) });
  const { keys }: JSONWebKeySet = (await service.app.inject('/.well-known/jwks.json')).json();
  return { acme, service, vc, sdJwt, holder, keys };
}

const pem = ({ privateKey }: { readonly privateKey: KeyObject }) =>
  String(privateKey.export({ type: 'pkcs8', format: 'pem' }));

const epochOf = ({ clock }: Service) => Math.floor(clock().getTime() / 1000);

/** A signature under one of the keys that the service publishes, checked by WebCrypto. */
function verifierWith(keys: readonly JWK[]) {
  return async (data: string, signature: string): Promise<boolean> => {
    const [header = ''] = data.split('.');
    const { kid, alg } = JSON.parse(Buffer.from(header, 'base64url').toString());
    const jwk = keys.find((key) => key.kid === kid);
    const key = jwk && (await importJWK(jwk, alg));
    if (!key || key instanceof Uint8Array) return false;
    const how = alg === 'ES256' ? { name: 'ECDSA', hash: 'SHA-256' } : 'RSASSA-PKCS1-v1_5';
    return webcrypto.subtle.verify(how, key, Buffer.from(signature, 'base64url'), Buffer.from(data));
  };
}

/** A verifier of SD-JWT VCs that reads the published status list from its memory. */
function wallet(keys: readonly JWK[], lists: ReadonlyMap<string, string>) {
  const verifier = verifierWith(keys);
  return new SDJwtVcInstance({
    verifier,
    statusVerifier: verifier,
    hasher: (data: string | ArrayBuffer, alg: string) =>
      new Uint8Array(
        createHash(alg.replace('-', ''))
          .update(typeof data === 'string' ? data : new Uint8Array(data))
          .digest(),
      ),
    hashAlg: 'sha-256',
    kbVerifier: (data, signature, payload) => {
      const jwk: JWK = Object(Object(payload).cnf).jwk;
      return verifierWith([jwk])(data, signature);
    },
    statusListFetcher: async (uri) => lists.get(uri) ?? '',
  });
}

async function listsOf({ app }: Service, sdJwt: string) {
  const { status } = decodeJwt<{ status: { status_list: { uri: string } } }>(String(sdJwt.split('~')[0]));
  const { uri } = status.status_list;
  return new Map([[uri, (await app.inject(new URL(uri).pathname)).body]]);
}

async function bound(service: Service, credential: string, key: webcrypto.CryptoKey, members: object = {}) {
  const sd_hash = createHash('sha256').update(credential).digest('base64url');
  const claims = { nonce: NONCE, aud: 'https://shop.test', iat: epochOf(service), sd_hash, ...members };
  const token = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', typ: 'kb+jwt' }).sign(key);
  return `${credential}${token}`;
}

/** A JWS with another payload under the same signature. */
function changed(jws: string, from: RegExp, to: string): string {
  const [header, payload = '', signature] = jws.split('.');
  const text = Buffer.from(payload, 'base64url').toString();
  expect(text).toMatch(from);
  return [header, Buffer.from(text.replace(from, to)).toString('base64url'), signature].join('.');
}

async function isSet(encodedList: string, index: string) {
  expect(encodedList[0]).toBe('u'); // base64url, as multibase names it
  const buffer = await Bitstring.decodeBits({ encoded: encodedList.slice(1) });
  return new Bitstring({ buffer }).get(Number(index));
}

/** Whether the proof is one of the key that the document of the issuer's DID names for assertions. */
async function isProven(service: Service, { proof, ...document }: { proof: Record<string, string> }) {
  const did = (await service.app.inject('/.well-known/did.json')).json();
  expect(did.assertionMethod).toContain(proof.verificationMethod);
  const verificationMethod = did.verificationMethod.find(
    ({ id }: { id: string }) => id === proof.verificationMethod,
  );
  const cryptosuite = createVerifyCryptosuite();
  const data = await cryptosuite.createVerifyData({ cryptosuite, document, proof });
  const signature = decode(String(proof.proofValue).slice(1));
  return (await cryptosuite.createVerifier({ verificationMethod })).verify({ data, signature });
}

describe.each(['RS256', 'ES256'] as const)('P4: libraries of others, with keys for %s', (alg) => {
  test('verify a W3C credential and its Bitstring Status List, before and after its revocation', async () => {
    const { acme, service, vc, keys } = await issued(alg);
    const set = createLocalJWKSet({ keys: [...keys] });
    const asVc = {
      ...{ issuer: 'did:web:auth.test', typ: 'vc+jwt' },
      ...{ algorithms: [alg], currentDate: service.clock() },
    };
    const { payload } = await jwtVerify(vc.credential, set, asVc);
    expect(payload).not.toHaveProperty('vc');
    const [entry] = Object(payload).credentialStatus;
    const { pathname } = new URL(entry.statusListCredential);
    const published = (accept: string) => service.app.inject({ url: pathname, headers: { accept } });
    const answers = async () => {
      const json = (await published('application/json')).json();
      expect(await isProven(service, json)).toBe(true);
      const jwt = (await published('application/vc+jwt')).body;
      const list = (await jwtVerify(jwt, set, asVc)).payload;
      return Promise.all(
        [list, json].map(({ credentialSubject }) =>
          isSet(Object(credentialSubject).encodedList, entry.statusListIndex),
        ),
      );
    };

    expect(await answers()).toEqual([false, false]);
    await acme('POST', `/v1/credentials/${vc.id}/revoke`, {});
    expect(await answers()).toEqual([true, true]);

    const empty = `"encodedList":"u${gzipSync(Buffer.alloc(16_384)).toString('base64url')}"`;
    const list = (await published('application/vc+jwt')).body;
    const forged = [
      changed(vc.credential, /calendar:read/, 'calendar:write'),
      changed(list, /"encodedList":"[^"]+"/, empty),
    ];
    for (const jws of forged)
      await expect(jwtVerify(jws, set, asVc)).rejects.toThrow('signature verification failed');
    const text = (await published('application/json')).body.replace(/"encodedList":"[^"]+"/, empty);
    expect(await isProven(service, JSON.parse(text))).toBe(false);
  });

  test('verify an SD-JWT VC with its key binding and its Token Status List', async () => {
    const { acme, service, sdJwt, holder, keys } = await issued(alg);
    const shown = await bound(service, sdJwt.credential, holder.privateKey);
    const options = { currentDate: epochOf(service), keyBindingNonce: NONCE };
    const lists = () => listsOf(service, sdJwt.credential);
    const verified = async (text: string) => wallet(keys, await lists()).verify(text, options);

    const { payload, kb } = await verified(shown);

    expect(payload).toMatchObject({ principalId: 'user_42', iss: 'https://auth.test' });
    expect(kb?.payload).toMatchObject({ nonce: NONCE, aud: 'https://shop.test' });
    const other = await generateKeyPair('ES256');
    const own = Buffer.from('["s","scopes",["*"]]').toString('base64url');
    const [issuerJwt = ''] = shown.split('~');
    const refused: [string, string, string | RegExp][] = [
      ['another key', await bound(service, sdJwt.credential, other.privateKey), /signature|Key Binding/i],
      [
        'another nonce',
        await bound(service, sdJwt.credential, holder.privateKey, { nonce: 'other' }),
        /nonce/i,
      ],
      [
        'other claims',
        await bound(service, sdJwt.credential, holder.privateKey, { sd_hash: 'x' }),
        /sd_hash/i,
      ],
      ['a disclosure of its own', shown.replace('~', `~${own}~`), /disclosure|sd_hash/i],
      ['no binding', sdJwt.credential, /Key Binding/i],
      [
        'another issuer',
        shown.replace(issuerJwt, changed(issuerJwt, /auth\.test/, 'evil.test')),
        /signature/i,
      ],
    ];
    for (const [name, text, why] of refused) await expect(verified(text), name).rejects.toThrow(why);

    const good = await lists();
    const forged = new Map([...good].map(([uri, list]) => [uri, changed(list, /"ttl":300/, '"ttl":301')]));
    await expect(wallet(keys, forged).verify(shown, options)).rejects.toThrow(/signature/i);
    await acme('POST', `/v1/credentials/${sdJwt.id}/revoke`, {});
    await expect(verified(shown)).rejects.toThrow('Status is not valid');
  });

  test('verify a passport as a JWT, its proof, and its status', async () => {
    const { acme, service } = await sandboxWith(alg);
    const { agentId, grantId } = await grantTo(acme, { scopes: ['payments:mpp:data'] });
    const maxTransactionAmount = { amount: 5, currency: 'USD' };
    const wish = { agentId, grantId, allowedMPPCategories: ['data'], maxTransactionAmount };
    const { credential, passportJwt, passportId } = (await acme('POST', '/v1/passport/issue', wish)).json();
    const { keys }: JSONWebKeySet = (await service.app.inject('/.well-known/jwks.json')).json();
    const asPassport = {
      ...{ issuer: 'did:web:auth.test', typ: 'agent-passport+jwt' },
      ...{ algorithms: [alg], currentDate: service.clock() },
    };
    const verified = (jwt: string) => jwtVerify(jwt, createLocalJWKSet({ keys }), asPassport);
    const [{ statusListCredential, statusListIndex }] = credential.credentialStatus;
    const isRevoked = async () => {
      const { pathname } = new URL(statusListCredential);
      const list = (await service.app.inject(pathname)).json();
      return isSet(list.credentialSubject.encodedList, statusListIndex);
    };

    expect(await isProven(service, credential)).toBe(true);
    const credentialSubject = { ...credential.credentialSubject, allowedMPPCategories: ['data', 'media'] };
    expect(await isProven(service, { ...credential, credentialSubject })).toBe(false);
    expect((await verified(passportJwt)).payload).toMatchObject({ id: passportId });
    await expect(verified(changed(passportJwt, /"amount":5/, '"amount":9'))).rejects.toThrow('signature');
    expect(await isRevoked()).toBe(false);
    await acme('POST', `/v1/passport/${encodeURIComponent(passportId)}/revoke`);
    expect(await isRevoked()).toBe(true);
  });
});

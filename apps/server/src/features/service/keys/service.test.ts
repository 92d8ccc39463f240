import {
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  hkdfSync,
  verify,
} from 'node:crypto';
import { createTokenVerifier } from '@behest/protocol/token-verifier';
import { describe, expect, test } from 'vitest';
import {
  createKeyRing,
  identityKey,
  type KeySettings,
  renamed,
  type SigningKey,
  signStatement,
  verificationKey,
  verifySignature,
} from './index.ts';
import vectors from './keys.vectors.json' with { type: 'json' };

const signingKey = (pem: string): SigningKey => {
  const privateKey = createPrivateKey(pem);
  return { ...verificationKey(createPublicKey(privateKey)), privateKey };
};
const rsa = signingKey(vectors.rsa.privateKey);
const ec = signingKey(vectors.ec.privateKey);
const ed25519Private = createPrivateKey(vectors.ed25519.privateKey);
const ed25519 = identityKey(createPublicKey(ed25519Private), ed25519Private);
const formerRsa = verificationKey(generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey);
const formerEc = verificationKey(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey);
const rsaKid = `service-rs256-${vectors.rsa.thumbprint}`;
const ecKid = `service-es256-${vectors.ec.thumbprint}`;

const defaults: KeySettings = {
  rsa,
  ec: undefined,
  ed25519: undefined,
  generatesMissing: false,
  signingAlg: 'RS256',
  verificationKeys: [],
  legacyKey: undefined,
  legacyMonths: 13,
  activationDelaySeconds: 900,
  vaultKey: undefined,
  previousVaultKeys: [],
  store: undefined,
  formerIdentities: [],
};

const uses = ['behest/thing/v1', 'behest/another-thing/v1'] as const;

async function start(settings: Partial<KeySettings> = {}, at = '2026-11-21T10:00:00Z') {
  let now = new Date(at);
  const warnings: string[] = [];
  const keyRing = await createKeyRing(
    { ...defaults, ...settings },
    { clock: () => now, startedAt: now, warn: (message) => warnings.push(message), uses },
  );
  const advance = (seconds: number) => {
    now = new Date(now.getTime() + seconds * 1000);
  };
  const published = (): Record<string, string>[] => JSON.parse(keyRing.jwks().body.toString()).keys;
  const kids = () => published().map(({ kid }) => kid);
  return { keyRing, warnings, advance, published, kids };
}

describe('signing', () => {
  test('uses the legacy id until verifiers have had time to fetch the new key', async () => {
    const { keyRing, advance } = await start();

    expect(keyRing.signer()).toMatchObject({ alg: 'RS256', kid: 'service-2026-11' });
    advance(899);
    expect(keyRing.signer()).toMatchObject({ alg: 'RS256', kid: 'service-2026-11' });
    advance(1);
    expect(keyRing.signer()).toMatchObject({ alg: 'RS256', kid: rsaKid });
  });

  test('stays RS256 for that time when ES256 is configured', async () => {
    const { keyRing, advance } = await start({ ec, signingAlg: 'ES256' });

    expect(keyRing.signer()).toMatchObject({ alg: 'RS256', kid: 'service-2026-11' });
    expect(keyRing.rsaSigner()).toMatchObject({ alg: 'RS256', kid: 'service-2026-11' });
    advance(900);
    expect(keyRing.signer()).toMatchObject({ alg: 'ES256', kid: ecKid });
    expect(keyRing.rsaSigner()).toMatchObject({ alg: 'RS256', kid: rsaKid });
  });

  test('names a key in a statement as the DID document does, from the start', async () => {
    const { keyRing, advance } = await start({ ec, signingAlg: 'ES256' });
    const kid = async () => {
      const statement = await signStatement(keyRing, 'receipt+jwt', { iss: 'https://auth.test' });
      return JSON.parse(Buffer.from(statement.split('.')[0] ?? '', 'base64url').toString()).kid;
    };

    expect(await kid()).toBe(rsaKid);
    advance(900);
    expect(await kid()).toBe(ecKid);
  });

  test('changes at once without a delay', async () => {
    const { keyRing } = await start({ ec, signingAlg: 'ES256', activationDelaySeconds: 0 });

    expect(keyRing.signer()).toMatchObject({ alg: 'ES256', kid: ecKid });
  });

  test('names the current month, also when the month changes during the delay', async () => {
    const { keyRing, advance } = await start({}, '2026-12-31T23:59:59Z');

    expect(keyRing.signer().kid).toBe('service-2026-12');
    advance(1);
    expect(keyRing.signer().kid).toBe('service-2027-01');
  });

  test('uses the service’s key under its own id when the legacy key is another key', async () => {
    const { keyRing, warnings } = await start({
      verificationKeys: [formerRsa],
      legacyKey: formerRsa,
      vaultKey: createSecretKey(Buffer.alloc(32)),
    });

    expect(keyRing.signer()).toMatchObject({ alg: 'RS256', kid: rsaKid });
    expect(warnings).toEqual([
      'JWT_LEGACY_KID_KEY does not belong to RSA_PRIVATE_KEY, which signs under its own key id from the start',
    ]);
  });

  test('warns without a vault key that the RSA key seals stored values', async () => {
    const { warnings } = await start();

    expect(warnings).toEqual([
      'VAULT_ENCRYPTION_KEY is not set: RSA_PRIVATE_KEY seals stored values, so set it before you replace RSA_PRIVATE_KEY',
    ]);
  });

  test.each(vectors.rs256Signatures)('makes the known RS256 signature under $header', async (vector) => {
    const { keyRing } = await start();
    const [, payload] = vectors.es256Token.split('.');
    const header = Buffer.from(vector.header).toString('base64url');

    const signature = await keyRing.signer().sign(Buffer.from(`${header}.${payload}`));
    expect(signature.toString('base64url').slice(0, 24)).toBe(vector.begins);
  });

  test('makes ES256 signatures of 64 bytes, as JWS requires', async () => {
    const { keyRing } = await start({ ec, signingAlg: 'ES256', activationDelaySeconds: 0 });
    const input = Buffer.from('input');

    const signature = await keyRing.signer().sign(input);
    expect(signature).toHaveLength(64);
    expect(verify('sha256', input, { key: ec.publicKey, dsaEncoding: 'ieee-p1363' }, signature)).toBe(true);
  });
});

describe('the verification keys', () => {
  test('are found by id, own keys and others, and the legacy key apart', async () => {
    const { keyRing } = await start({ ec, verificationKeys: [renamed(formerRsa, 'theirs'), formerEc] });

    const { byId, legacy } = keyRing.verificationKeys();
    expect([...byId.keys()]).toEqual([rsaKid, ecKid, 'theirs', formerEc.jwk.kid]);
    expect(byId.get('theirs')).toMatchObject({
      kid: 'theirs',
      use: 'sig',
      alg: 'RS256',
      publicKey: formerRsa.publicKey,
    });
    expect(legacy).toMatchObject({ kid: rsaKid, publicKey: rsa.publicKey });
  });

  test('include a configured legacy key that is not the service’s own key', async () => {
    const { keyRing } = await start({ verificationKeys: [formerRsa], legacyKey: formerRsa });

    expect(keyRing.verificationKeys().legacy?.kid).toBe(formerRsa.jwk.kid);
  });

  test.each([
    ...vectors.rs256Signatures.map(({ header }) => header),
    '{"alg":"RS256","kid":"service-2019-13"}',
  ])('let the verifier use the legacy key for a legacy or absent id: %s', async (header) => {
    const { keyRing } = await start();
    const keys = () => keyRing.verificationKeys();
    const verifier = createTokenVerifier({
      keys,
      issuer: 'https://auth.example.test',
      storedGrantDecides: true,
      verifySignature,
    });
    const [, payload] = vectors.es256Token.split('.');
    const input = `${Buffer.from(header).toString('base64url')}.${payload}`;
    const signature = await keyRing.signer().sign(Buffer.from(input));

    const token = `${input}.${signature.toString('base64url')}`;
    const answer = verifier.verify(token, { now: new Date('2026-11-21T10:00:00Z') });
    expect(answer).toMatchObject(
      header.includes('2019-13') ? { ok: false, reason: 'key_not_found' } : { ok: true },
    );
  });

  test('accept the known ES256 token, and no other text under its signature', async () => {
    const { keyRing } = await start({ ec });
    const key = keyRing.verificationKeys().byId.get(ecKid) ?? expect.fail('the EC key is missing');
    const [header, payload, signed64 = ''] = vectors.es256Token.split('.');
    const signature = new Uint8Array(Buffer.from(signed64, 'base64url'));
    const accepts = (signed: string) =>
      verifySignature({ alg: 'ES256', key, signed: new TextEncoder().encode(signed), signature });

    expect(accepts(`${header}.${payload}`)).toBe(true);
    expect(accepts(`${header}.${payload}x`)).toBe(false);
  });
});

describe('the published set', () => {
  test('has the RSA key, and the same key under the ids of thirteen months, newest first', async () => {
    const { published, kids } = await start();

    expect(kids()).toEqual([
      rsaKid,
      ...['service-2026-11', 'service-2026-10', 'service-2026-09', 'service-2026-08', 'service-2026-07'],
      ...['service-2026-06', 'service-2026-05', 'service-2026-04', 'service-2026-03', 'service-2026-02'],
      ...['service-2026-01', 'service-2025-12', 'service-2025-11'],
    ]);
    expect(published().map(({ n }) => n)).toEqual(Array(14).fill(rsa.publicKey.export({ format: 'jwk' }).n));
  });

  test('has RSA before EC, own keys before others, and the legacy key’s months last', async () => {
    const verificationKeys = [formerEc, renamed(formerRsa, 'theirs')];
    const { kids } = await start({ ec, verificationKeys, legacyKey: formerRsa, legacyMonths: 2 });

    const months = ['service-2026-11', 'service-2026-10'];
    expect(kids()).toEqual([rsaKid, 'theirs', ecKid, formerEc.jwk.kid, ...months]);
  });

  test('has an EC key before it signs', async () => {
    const { kids, keyRing, advance } = await start({ ec });
    advance(900);

    expect(keyRing.signer().alg).toBe('RS256');
    expect(kids()).toContain(ecKid);
  });

  test('J21: has the public members in their order, and no other', async () => {
    const { published } = await start({ ec, legacyMonths: 1 });

    expect(published().map((key) => Object.keys(key))).toEqual([
      ['kty', 'kid', 'use', 'alg', 'n', 'e'],
      ['kty', 'kid', 'use', 'alg', 'crv', 'x', 'y'],
      ['kty', 'kid', 'use', 'alg', 'n', 'e'],
    ]);
    expect(published()[1]).toMatchObject(JSON.parse(vectors.ec.hashed));
  });

  test('changes with the month, without a restart', async () => {
    const { keyRing, kids, advance } = await start({ legacyMonths: 3 }, '2026-01-31T23:59:59Z');
    const before = keyRing.jwks();

    expect(kids().slice(1)).toEqual(['service-2026-01', 'service-2025-12', 'service-2025-11']);
    advance(1);
    expect(kids().slice(1)).toEqual(['service-2026-02', 'service-2026-01', 'service-2025-12']);
    expect(keyRing.jwks().etag).not.toBe(before.etag);
  });

  test('is made only once a month', async () => {
    const { keyRing, advance } = await start();
    const before = keyRing.jwks();
    advance(86_400);

    expect(keyRing.jwks()).toBe(before);
  });

  test('stays in caches for five minutes, or for the activation delay when the delay is shorter', async () => {
    const maxAge = async (activationDelaySeconds: number) =>
      (await start({ activationDelaySeconds })).keyRing.jwks().maxAgeSeconds;

    expect(await maxAge(900)).toBe(300);
    expect(await maxAge(60)).toBe(60);
    expect(await maxAge(0)).toBe(0);
  });
});

describe('the identity', () => {
  test('has own and other keys under their thumbprints, and no key under another id', async () => {
    const verificationKeys = [formerEc, renamed(formerRsa, 'theirs')];
    const { keyRing } = await start({ ec, ed25519, verificationKeys });

    const { keys, ed25519: jwk } = keyRing.identity();
    expect(keys.map(({ kid }) => kid)).toEqual([rsaKid, ecKid, formerEc.jwk.kid]);
    expect(jwk).toEqual({
      ...JSON.parse(vectors.ed25519.hashed),
      kid: `service-ed25519-${vectors.ed25519.thumbprint}`,
    });
  });

  test('names the current signing key, which changes after the activation delay', async () => {
    const { keyRing, advance } = await start({ ec, signingAlg: 'ES256' });

    expect(keyRing.identity().signingKid).toBe(rsaKid);
    advance(900);
    expect(keyRing.identity().signingKid).toBe(ecKid);
  });

  test('has no Ed25519 key unless a key is configured', async () => {
    const { keyRing } = await start();

    expect(keyRing.identity().ed25519).toBe(undefined);
  });
});

describe('missing keys', () => {
  const WARNING = 'ephemeral keys: tokens and stored credentials do not survive a restart';

  test('are generated with a warning when the settings allow it', async () => {
    const settings = { rsa: undefined, signingAlg: 'ES256', generatesMissing: true } as const;
    const { keyRing, kids, warnings } = await start({ ...settings, activationDelaySeconds: 0 });

    expect(warnings).toEqual([WARNING]);
    expect(kids()).toHaveLength(15);
    expect(keyRing.signer().alg).toBe('ES256');
    expect(await keyRing.signer().sign(Buffer.from('input'))).toHaveLength(64);
  });

  test('are generated without replacing a configured key', async () => {
    const { kids, warnings } = await start({ signingAlg: 'ES256', generatesMissing: true });

    expect(kids()[0]).toBe(rsaKid);
    expect(warnings).toEqual([WARNING]);
  });

  test('do not include an EC key unless ES256 needs it', async () => {
    const { kids, warnings } = await start({ generatesMissing: true, ed25519 });

    expect(kids()).toHaveLength(14);
    expect(warnings).toEqual([]);
  });

  test('include the Ed25519 key, which the published set does not show', async () => {
    const { keyRing, kids, warnings } = await start({ generatesMissing: true });

    const { ed25519: jwk } = keyRing.identity();
    expect(jwk?.kid).toMatch(/^service-ed25519-[\w-]{43}$/);
    expect(kids()).toHaveLength(14);
    expect(warnings).toEqual([WARNING]);
  });

  test('are an error when the settings forbid to generate them', async () => {
    await expect(start({ rsa: undefined })).rejects.toThrow('A signing key is missing.');
  });
});

describe('derived keys', () => {
  const use = 'behest/thing/v1';
  const secret = (byte: number) => createSecretKey(Buffer.alloc(32, byte));
  const rsaDer = rsa.privateKey.export({ type: 'pkcs8', format: 'der' });
  const expanded = (source: Buffer, info: string = use) =>
    Buffer.from(hkdfSync('sha256', source, '', info, 32)).toString('hex');

  async function derived(settings: Partial<KeySettings>) {
    const { current, previous } = (await start(settings)).keyRing.derive(use);
    return [current, ...previous].map((key) => key.export().toString('hex'));
  }

  test('come from the RSA key without a vault key', async () => {
    expect(await derived({})).toEqual([expanded(rsaDer)]);
  });

  test('come from a configured vault key, and those of the RSA key still open older values', async () => {
    expect(await derived({ vaultKey: secret(1) })).toEqual([expanded(Buffer.alloc(32, 1)), expanded(rsaDer)]);
  });

  test('from former vault keys still open older values', async () => {
    const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

    expect(await derived({ vaultKey: secret(2), previousVaultKeys: [secret(1)] })).toEqual([
      expanded(two),
      expanded(one),
      expanded(rsaDer),
    ]);
    expect(await derived({ previousVaultKeys: [secret(1)] })).toEqual([expanded(rsaDer), expanded(one)]);
  });

  test('differ for each use', async () => {
    const { keyRing } = await start();

    const keys = uses.map((each) => keyRing.derive(each).current.export().toString('hex'));
    expect(keys).toEqual(uses.map((each) => expanded(rsaDer, each)));
    expect(new Set(keys).size).toBe(2);
  });

  test('exist only for declared uses', async () => {
    const { keyRing } = await start();

    expect(() => keyRing.derive('behest/other/v1')).toThrow('No feature declares');
  });
});

import * as crypto from 'node:crypto';
import { sign } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import {
  asyncVerifier,
  base64url,
  ec,
  ecHeader,
  grantToken,
  ISSUER,
  NOW,
  outcome,
  rsa,
  serviceKeys,
  verifier,
} from '../test/signing.ts';
import * as keySet from './key-set.ts';
import * as verifierModule from './token-verifier.ts';
import { createAsyncTokenVerifier, createTokenVerifier } from './token-verifier.ts';

describe('signatures', () => {
  const ORDER = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551');
  const bytesOf = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
  const token = grantToken({}, ecHeader, ec);
  const signed = token.slice(0, token.lastIndexOf('.'));
  const raw = Buffer.from(token.slice(token.lastIndexOf('.') + 1), 'base64url');
  const [r, s] = [raw.subarray(0, 32), raw.subarray(32)];
  const es256 = async (signature: Uint8Array) => {
    const forged = `${signed}.${base64url(signature)}`;
    const [here, there] = [
      verifier.verify(forged, { now: NOW }),
      await asyncVerifier.verify(forged, { now: NOW }),
    ];
    expect(there).toEqual(here); // whatever it is, it is the same everywhere
    return here.ok ? 'accepted' : here.reason;
  };

  test.each([
    ['all zero', Buffer.alloc(64)],
    ['r = 0', Buffer.concat([Buffer.alloc(32), s])],
    ['s = 0', Buffer.concat([r, Buffer.alloc(32)])],
    ['r = n', Buffer.concat([bytesOf(ORDER), s])],
    ['s = n', Buffer.concat([r, bytesOf(ORDER)])],
    ['r and s = n', Buffer.concat([bytesOf(ORDER), bytesOf(ORDER)])],
    ['r = n + 1', Buffer.concat([bytesOf(ORDER + 1n), s])],
    ['r and s = 1', Buffer.concat([bytesOf(1n), bytesOf(1n)])],
    ['the largest numbers', Buffer.alloc(64, 0xff)],
    ['r and s swapped', Buffer.concat([s, r])],
    ['DER', sign('sha256', Buffer.from(signed), ec.privateKey)],
    ['63 bytes', raw.subarray(0, 63)],
    ['65 bytes', Buffer.concat([raw, Buffer.alloc(1)])],
    ['a zero before r', Buffer.concat([Buffer.alloc(1), raw])],
    ['128 bytes', Buffer.concat([raw, raw])],
  ])('J10: an ES256 signature with %s is refused', async (_, signature) => {
    expect(await es256(raw)).toBe('accepted');
    expect(await es256(signature)).toBe('bad_signature');
  });

  test('J10: an ES256 signature with the other s is judged the same everywhere', async () => {
    const other = bytesOf(ORDER - BigInt(`0x${s.toString('hex')}`));

    expect(await es256(Buffer.concat([r, other]))).toBe('accepted');
  });

  describe('RSA', () => {
    const genuine = grantToken();
    const text = genuine.slice(0, genuine.lastIndexOf('.'));
    const privateJwk = rsa.privateKey.export({ format: 'jwk' });
    const number = (member: string | undefined) =>
      BigInt(`0x${Buffer.from(member ?? '', 'base64url').toString('hex')}`);
    const [modulus, exponent] = [number(privateJwk.n), number(privateJwk.d)];
    const SHA256 = '3031300d060960864801650304020105000420';
    const SHA1 = '3021300906052b0e03021a05000414';

    /** Applies the private key to a block with careless padding. */
    const withBlock = (hex: string) => {
      let [power, base, left] = [1n, BigInt(`0x${hex}`) % modulus, exponent];
      for (; left > 0n; left >>= 1n) {
        if (left & 1n) power = (power * base) % modulus;
        base = (base * base) % modulus;
      }
      return Buffer.from(power.toString(16).padStart(512, '0'), 'hex');
    };
    const digest = async () =>
      Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(text))).toString('hex');
    const rs256 = async (signature: Uint8Array) => {
      const forged = `${text}.${base64url(signature)}`;
      const here = verifier.verify(forged, { now: NOW });
      expect(await asyncVerifier.verify(forged, { now: NOW })).toEqual(here);
      return here.ok ? 'accepted' : here.reason;
    };
    const padded = (end: string, type = '01', fill = 'ff') => {
      const filler = fill.repeat(256 - 3 - end.length / 2);
      return `00${type}${filler}00${end}`;
    };

    test('J11: the block that the standard describes is accepted', async () => {
      expect(await rs256(withBlock(padded(SHA256 + (await digest()))))).toBe('accepted');
    });

    test.each([
      ['block type 0', (hash: string) => padded(SHA256 + hash, '00', '00')],
      ['block type 2', (hash: string) => padded(SHA256 + hash, '02', 'aa')],
      ['filler other than ff', (hash: string) => padded(SHA256 + hash, '01', 'fe')],
      [
        'the hash moved to the front',
        (hash: string) => `0001ffffffffffffffff00${SHA256}${hash}`.padEnd(512, '0'),
      ],
      ['bytes after the hash', (hash: string) => padded(`${SHA256}${hash}00`)],
      ['no algorithm before the hash', (hash: string) => padded(hash)],
      ['the algorithm SHA-1', (hash: string) => padded(SHA1 + hash.slice(0, 40))],
      ['SHA-1 named before a SHA-256 hash', (hash: string) => padded(SHA1 + hash)],
      [
        'no NULL after the algorithm',
        (hash: string) => padded(`302f300b0609608648016503040201${'0420'}${hash}`),
      ],
      [
        'another hash',
        (hash: string) => padded(SHA256 + hash.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))),
      ],
    ])('J11: a block with %s is refused', async (_, block) => {
      expect(await rs256(withBlock(block(await digest())))).toBe('bad_signature');
    });

    test.each([
      ['0', Buffer.alloc(256)],
      ['1', Buffer.concat([Buffer.alloc(255), Buffer.from([1])])],
      ['the modulus', Buffer.from(modulus.toString(16), 'hex')],
      ['the modulus less 1', Buffer.from((modulus - 1n).toString(16), 'hex')],
      ['one byte short', Buffer.from(genuine.split('.')[2] ?? '', 'base64url').subarray(1)],
      [
        'one byte long',
        Buffer.concat([Buffer.alloc(1), Buffer.from(genuine.split('.')[2] ?? '', 'base64url')]),
      ],
      ['64 bytes', Buffer.alloc(64, 1)],
    ])('J11: an RS256 signature that is %s is refused', async (_, signature) => {
      expect(await rs256(signature)).toBe('bad_signature');
    });

    test('J11: a signature made for another hash is refused', async () => {
      expect(await rs256(sign('sha512', Buffer.from(text), rsa.privateKey))).toBe('bad_signature');
      expect(await rs256(sign('sha1', Buffer.from(text), rsa.privateKey))).toBe('bad_signature');
    });
  });

  test('J14: parts of two genuine tokens do not make a third', () => {
    const [ours, theirs] = [grantToken(), grantToken({ sub: 'admin' }, ecHeader, ec)].map((t) =>
      t.split('.'),
    );
    const mixed = [0, 1, 2, 3, 4, 5, 6, 7].map((choice) =>
      [0, 1, 2].map((part) => (choice & (1 << part) ? theirs : ours)?.[part]).join('.'),
    );

    const accepted = mixed.filter((candidate) => outcome(candidate) === 'accepted');
    expect(accepted).toEqual([ours?.join('.'), theirs?.join('.')]);
  });

  test('J14: a primitive that throws, or whose promise fails, has verified nothing', async () => {
    const setup = { keys: () => serviceKeys, issuer: ISSUER, developerId: 'dev_1' };
    const fail = () => {
      throw new Error('no such key');
    };
    const throwing = createTokenVerifier({ ...setup, verifySignature: fail });
    const failing = createAsyncTokenVerifier({ ...setup, verifySignature: async () => fail() });

    const badSignature = { ok: false, reason: 'bad_signature' };
    expect(throwing.verify(grantToken(), { now: NOW })).toEqual(badSignature);
    expect(await failing.verify(grantToken(), { now: NOW })).toEqual(badSignature);
  });
});

const SOURCES = globSync('*.ts', { cwd: import.meta.dirname, exclude: ['*.test.ts'] }).sort();
const FENCE = /```ts\n([\s\S]*?)```/g;
const VALUE = /^(.+); \/\/ (.+)$/gm;

const examplesIn = (file: string) => {
  const source = readFileSync(join(import.meta.dirname, file), 'utf8').replaceAll(/^ \* ?/gm, '');
  return [...source.matchAll(FENCE)].map(([, code = '']) => code);
};

describe('an example in a docblock', () => {
  const values = SOURCES.flatMap((file) =>
    examplesIn(file).flatMap((code) =>
      [...code.matchAll(VALUE)].map(([, call = '', value = '']) => [file, call, value]),
    ),
  );

  test('is there for more than ten calls', () => expect(values.length).toBeGreaterThan(10));

  test.each(values)('in %s is right: %s is %s', async (file = '', call = '', value = '') => {
    const module = { ...(await import(join(import.meta.dirname, file))) };

    expect(runInNewContext(call, module)).toEqual(runInNewContext(`(${value})`));
  });

  test('verifies a token as it is pasted', async () => {
    const [example = ''] = examplesIn('token-verifier.ts');
    const body = ts.transpile(example.replaceAll(/^import .*$/gm, ''), { target: ts.ScriptTarget.ESNext });
    const keys = [...serviceKeys.byId.values()].map(({ pair, ...jwk }) => jwk);
    const token = grantToken({
      iss: 'https://auth.example.com',
      dev: 'dev_01KAFZ5W8N4T6Q2R9M3X7Y1VBC',
      'urn:service:grant': {},
      aud: 'https://api.example.com',
      exp: 253_402_300_799, // 9999-12-31
    });
    const fetch = async () => Response.json({ keys });

    const result = runInNewContext(`(async () => { ${body}; return { principalId, agentDid, scopes }; })()`, {
      ...crypto,
      ...keySet,
      ...verifierModule,
      fetch,
      token,
    });

    expect(await result).toEqual({
      principalId: 'user_42',
      agentDid: 'did:web:auth.example.test:agents:ag_1',
      scopes: ['calendar:read'],
    });
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ES256_TOKEN, ec } from '../test/documented-keys.ts';
import {
  base64url,
  ecHeader,
  grantToken,
  ISSUER,
  NOW,
  serviceKeys,
  standardPayload,
  verifier,
} from '../test/signing.ts';
import { shortest } from '../test/timing.ts';
import { createTokenVerifier } from './token-verifier.ts';

describe('whatever it is given', () => {
  const genuine = [grantToken(), grantToken({}, ecHeader, ec), ES256_TOKEN];
  const expected = { now: NOW };
  const refusedQuickly = (token: unknown) => {
    expect(shortest(() => verifier.verify(token, expected))).toBeLessThan(50);
    return !verifier.verify(token, expected).ok;
  };

  test('bytes at random never verify and never throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 4_096 }), (bytes) =>
        refusedQuickly(Buffer.from(bytes).toString('latin1')),
      ),
    );
    fc.assert(fc.property(fc.string({ unit: 'binary' }), refusedQuickly));
    fc.assert(fc.property(fc.anything(), refusedQuickly));
  });

  test('parts at random never verify and never throw', () => {
    const part = fc.oneof(
      fc.string(),
      fc.base64String(),
      fc.json().map(base64url),
      fc.uint8Array().map(base64url),
    );

    fc.assert(fc.property(fc.array(part, { maxLength: 5 }), (parts) => refusedQuickly(parts.join('.'))));
  });

  test('a genuine token with any one character changed, lost or added never verifies', () => {
    const change = fc.tuple(
      fc.constantFrom(...genuine),
      fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      fc.string({ minLength: 0, maxLength: 2, unit: 'binary-ascii' }),
      fc.boolean(),
    );
    const mutate = ([token, where, text, replaces]: [string, number, string, boolean]) => {
      const at = Math.floor(where * token.length);
      return token.slice(0, at) + text + token.slice(replaces ? at + 1 : at);
    };

    fc.assert(
      fc.property(change.map(mutate), (token) => {
        fc.pre(!genuine.includes(token));
        return refusedQuickly(token);
      }),
      { numRuns: 2_000 },
    );
  });

  test('claims at random under a genuine signature never throw', () => {
    const names = [
      ...Object.keys(standardPayload),
      'agt',
      'grnt',
      'parentAgt',
      'bdg',
      'cnf',
      'aud',
      'sandbox',
      'authorization_details',
    ];
    const payloads = fc.dictionary(fc.constantFrom(...names), fc.jsonValue({ maxDepth: 3 }));
    const always = createTokenVerifier({
      keys: () => serviceKeys,
      issuer: ISSUER,
      developerId: 'dev_1',
      verifySignature: () => true,
    });
    const signature = base64url(Buffer.alloc(256, 1));

    fc.assert(
      fc.property(payloads, (claims) => {
        const payload = { ...standardPayload, ...claims };
        always.verify(`${base64url({ alg: 'RS256' })}.${base64url(payload)}.${signature}`, expected);
      }),
    );
  });
});

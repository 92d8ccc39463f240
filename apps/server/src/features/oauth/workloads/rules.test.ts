import { expect, test } from 'vitest';
import { coversSubject, isSubjectPattern, issuerOf, isTrusted } from './workloads.rules.ts';

test('M17 a pattern covers whole parts of a subject, and never everybody', () => {
  for (const bad of ['*', 'repo:acme*', 'repo:*:main', '/*', ':*', 'a**', '*a']) {
    expect(`${bad} ${isSubjectPattern(bad)}`).toBe(`${bad} false`);
  }
  for (const good of [
    'repo:acme/*',
    'spiffe://acme.test/agents/*',
    'system:serviceaccount:prod:*',
    'exact',
  ]) {
    expect(`${good} ${isSubjectPattern(good)}`).toBe(`${good} true`);
  }
  expect(coversSubject('repo:acme/*', 'repo:acme/app:ref:refs/heads/main')).toBe(true);
  expect(coversSubject('repo:acme/*', 'repo:acme-evil/app')).toBe(false);
  expect(coversSubject('repo:acme/*', 'repo:acme/')).toBe(false);
  expect(coversSubject('exact', 'exactly')).toBe(false);
});

test('a JWT-SVID is of the trust domain in its subject, whatever issuer it names', () => {
  expect(issuerOf({ sub: 'spiffe://acme.test/agents/a' })).toBe('spiffe://acme.test');
  expect(issuerOf({ sub: 'spiffe://evil.test/a', iss: 'spiffe://acme.test' })).toBe('spiffe://evil.test');
  expect(issuerOf({ sub: 'repo:acme/app', iss: 'https://ci.test' })).toBe('https://ci.test');
  expect(issuerOf({ sub: 'a' })).toBeUndefined();
});

test('M17 a JWT is good until the second of its end, and no longer than the developer allows', () => {
  const now = new Date('2026-01-01T00:00:00Z');
  const at = now.getTime() / 1000;
  const trusted = { audience: 'https://auth.test', subject: 's', claims: { ref: 'main' }, maxSeconds: 600 };
  const good = { aud: ['https://auth.test'], sub: 's', exp: at + 1, iat: at, ref: 'main' };
  const is = (changes: object) => isTrusted({ ...good, ...changes }, trusted, now);

  expect(is({})).toBe(true);
  expect(is({ exp: at })).toBe(false);
  expect(is({ exp: at + 600 })).toBe(true);
  expect(is({ exp: at + 601 })).toBe(false);
  expect(is({ exp: at + 601, iat: undefined })).toBe(false);
  expect(is({ iat: at + 61, exp: at + 90 })).toBe(false);
  expect(is({ nbf: at + 61 })).toBe(false);
  for (const aud of ['https://auth.test/', ['https://auth.test', 'x'], undefined])
    expect(is({ aud })).toBe(false);
  expect(is({ ref: 'other' })).toBe(false);
  expect(is({ ref: undefined })).toBe(false);
});

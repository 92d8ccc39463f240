import { describe, expect, test } from 'vitest';
import { DEVELOPER, startIssuer } from '../../test/issuer.ts';
import { keyCache } from './key-cache.ts';
import { tokenSource } from './token-source.ts';

const SECOND = 1_000;

async function open({ staleIfError }: { staleIfError?: number } = {}) {
  const issuer = await startIssuer();
  const start = Date.now();
  const state = { now: start };
  const cache = keyCache(() => state.now);
  const keys = cache.of(issuer.jwksUri, staleIfError === undefined ? {} : { staleIfError });
  const source = tokenSource({ issuer: issuer.url, keys, developerId: DEVELOPER }, () => start);
  const outcome = async (token: string) => {
    const answer = await source.verify(token);
    return answer.ok ? 'ok' : answer.reason;
  };
  const pass = (seconds: number) => {
    state.now += seconds * SECOND;
  };
  /** Lets a refresh in the background come to its end. */
  const settle = async () => {
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  return { issuer, cache, keys, outcome, pass, settle };
}

test('many tokens at once cost one fetch', async () => {
  const { issuer, outcome } = await open();
  const tokens = await Promise.all(Array.from({ length: 20 }, () => issuer.token()));

  expect(new Set(await Promise.all(tokens.map(outcome)))).toEqual(new Set(['ok']));

  expect(issuer.fetches).toBe(1);
});

test('a rotation is seen at the first token of the new key', async () => {
  const { issuer, outcome, pass } = await open();
  await outcome(await issuer.token());
  pass(31);

  await issuer.rotate('service-es256-second');
  const tokens = await Promise.all(Array.from({ length: 20 }, () => issuer.token()));

  expect(new Set(await Promise.all(tokens.map(outcome)))).toEqual(new Set(['ok']));
  expect(issuer.fetches).toBe(2);
});

test('tokens that name unknown keys make the issuer answer once in 30 seconds', async () => {
  const { issuer, outcome, pass } = await open();
  await outcome(await issuer.token());
  const forge = async (index: number) =>
    issuer.token({}, await issuer.newKey(`service-es256-${index}`, 'ES256'));
  const forged = await Promise.all(Array.from({ length: 50 }, (_, index) => forge(index)));

  expect(new Set(await Promise.all(forged.map(outcome)))).toEqual(new Set(['key_not_found']));
  expect(issuer.fetches).toBe(1); // the first fetch was a moment ago
  pass(30);
  await Promise.all(forged.map(outcome));
  expect(issuer.fetches).toBe(2);
  pass(29);
  await Promise.all(forged.map(outcome));

  expect(issuer.fetches).toBe(2);
});

test('a token that the legacy key signs never makes the issuer answer again', async () => {
  const { issuer, cache, outcome, pass } = await open();
  const legacy = await issuer.newKey('service-2026-01', 'RS256');
  cache.preload({ keys: [...issuer.jwks.keys, legacy.jwk] }, issuer.jwksUri);
  pass(60);

  const unknownMonth = await issuer.token({}, { ...legacy, kid: 'service-2019-05' });
  const wrongAlgorithm = await issuer.token({}, await issuer.newKey('service-2026-02', 'ES256'));

  expect(await outcome(unknownMonth)).toBe('ok');
  expect(await outcome(wrongAlgorithm)).toBe('key_not_found');
  expect(issuer.fetches).toBe(0);
});

test('keys that were given are never asked for, whatever key a token names', async () => {
  const { issuer, cache, outcome, pass } = await open();
  cache.preload(issuer.jwks, issuer.jwksUri);
  const forged = await issuer.token({}, await issuer.newKey('service-es256-unknown', 'ES256'));

  for (const seconds of [0, 31, 90_000]) {
    pass(seconds);
    expect(await outcome(forged)).toBe('key_not_found');
  }
  for (let other = 0; other < 70; other += 1) await cache.of(`${issuer.url}/${other}`).get(); // more addresses than the cache keeps

  expect(await outcome(await issuer.token())).toBe('ok');
  expect(issuer.fetches).toBe(70);
});

describe('the age of keys', () => {
  test.each([
    ['max-age=300', 299, 1],
    ['max-age=300', 300, 2],
    ['max-age=1', 59, 1],
    ['max-age=1', 60, 2],
    ['no-store', 599, 1],
    ['no-store', 600, 2],
    ['max-age=999999999', 86_399, 1],
    ['max-age=999999999', 86_400, 2],
  ])('%s is fetched after %i s %i times', async (header, seconds, fetches) => {
    const { issuer, keys, pass, settle } = await open();
    issuer.caches(header);
    await keys.get();
    pass(seconds);

    await keys.get();
    await settle();

    expect(issuer.fetches).toBe(fetches);
  });

  test('the old keys serve for a day while the issuer is away, and it is asked twice a minute at most', async () => {
    const { issuer, keys, outcome, pass, settle } = await open();
    const token = await issuer.token();
    await outcome(token);
    issuer.answers('error');
    pass(300);

    for (let index = 0; index < 10; index += 1) expect(await outcome(token)).toBe('ok');
    await settle();
    expect(issuer.fetches).toBe(2);
    pass(86_400 - 1);
    expect(await outcome(await issuer.token())).toBe('ok');
    await settle();
    pass(1);
    expect(await outcome(await issuer.token())).toBe('keys_unavailable');
    issuer.answers('keys');
    pass(30);
    expect(await outcome(await issuer.token())).toBe('ok');
    expect(await keys.get()).toBe(await keys.get());
  });

  test('no old key serves where the operator wants none', async () => {
    const { issuer, outcome, pass } = await open({ staleIfError: 0 });
    await outcome(await issuer.token());
    issuer.answers('error');
    pass(300);

    expect(await outcome(await issuer.token())).toBe('keys_unavailable');
  });
});

describe('an answer that is no set of keys', () => {
  test.each(['error', 'redirect', 'large', 'nothing usable'] as const)(
    '%s leaves no keys, and is not asked for again at once',
    async (answer) => {
      const { issuer, outcome, pass } = await open();
      issuer.answers(answer);
      const token = await issuer.token();

      for (let index = 0; index < 5; index += 1) expect(await outcome(token)).toBe('keys_unavailable');
      expect(issuer.fetches).toBe(1);
      issuer.answers('keys');
      pass(30);

      expect(await outcome(token)).toBe('ok');
    },
  );

  test('a key that changed under its name verifies nothing that the old one signed', async () => {
    const { issuer, keys, outcome, pass, settle } = await open();
    const token = await issuer.token();
    expect(await outcome(token)).toBe('ok');
    await issuer.rotate('service-es256-first', { keeps: false });
    pass(300);
    await keys.get();
    await settle();

    expect(await outcome(token)).toBe('bad_signature');
    expect(await outcome(await issuer.token())).toBe('ok');
  });
});

test('the cache knows 64 issuers', async () => {
  let fetches = 0;
  const fetch = async () => {
    fetches += 1;
    return Response.json({ keys: [{ kid: 'a', kty: 'EC', use: 'sig' }] });
  };
  const cache = keyCache();
  const get = (index: number) => cache.of(`https://${index}.example/jwks`, { fetch }).get();

  for (let index = 0; index < 64; index += 1) await get(index);
  for (let index = 0; index < 64; index += 1) await get(index);
  expect(fetches).toBe(64);
  await get(64);
  await get(0);
  expect(fetches).toBe(66);
});

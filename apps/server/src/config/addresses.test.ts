import { describe, expect, test } from 'vitest';
import { loadConfig } from '../config.ts';
import { development, production, refusalsOf } from './test/environment.ts';

const loaded = (name: string, value: string) => loadConfig({ ...development, [name]: value });

describe('I10: TRUST_PROXY', () => {
  const REFUSAL = 'TRUST_PROXY must be false, a hop count from 1 to 16, or a list of proxy IPs/CIDRs';

  test.each([
    ['false', false],
    ['1', 1],
    ['16', 16],
    ['10.0.0.1', '10.0.0.1'],
    ['10.0.0.0/8,2001:db8::/32, ::1', '10.0.0.0/8,2001:db8::/32,::1'],
    ['::ffff:10.0.0.0/104', '::ffff:10.0.0.0/104'],
  ])('takes %s', (value, meaning) => {
    expect(loaded('TRUST_PROXY', value).http.trustProxy).toBe(meaning);
  });

  test.each([
    ...[
      'true',
      '*',
      'all',
      '0',
      '17',
      '-1',
      '1.5',
      '0.0.0.0/0',
      '::/0',
      '10.0.0.1,0.0.0.0/0',
      '::ffff:0:0/96',
    ],
    ...['proxy.example', 'loopback', ',', '10.0.0.1,', '10.0.0.0/33', '::/129', '10.0.0.0/8/8', '10.0.0.0/'],
    ...['fe80::1%eth0', '10.0.0.0/255.0.0.0', 'False'],
  ])('refuses %s', (value) => {
    expect(refusalsOf({ ...development, TRUST_PROXY: value })).toEqual([REFUSAL]);
  });
});

describe('PUBLIC_BASE_URL', () => {
  test.each(['http://localhost:3001', 'https://[2001:db8::1]', 'http://intranet'])('takes %s', (url) => {
    expect(loaded('PUBLIC_BASE_URL', url).http.publicBaseUrl).toBe(url);
  });

  test.each([
    ...['https://id.example/', 'https://id.example//?a', 'https://id.example?', 'https://id.example/#a'],
    ...['id.example', '/behest', 'ftp://id.example', 'https://', 'https:///a', 'https://a b.example'],
    ...['https://user@id.example', 'https://id.example:99999', 'https:\\\\id.example'],
  ])('refuses %s', (url) => {
    expect(refusalsOf({ ...development, PUBLIC_BASE_URL: url })).toEqual([
      'PUBLIC_BASE_URL must be an absolute URL without path, trailing slash, query or fragment',
    ]);
  });

  test.each([
    ['https://id.example/behest', '/behest'],
    ['http://localhost:3121/a/b/', '/a/b/'],
    ['https://id.example//', '//'],
    [`https://id.example/${'a'.repeat(200)}`, `/${'a'.repeat(59)}…`],
  ])('c01: has no path, as in %s', (url, found) => {
    expect(refusalsOf({ ...development, PUBLIC_BASE_URL: url })).toEqual([
      `PUBLIC_BASE_URL must have no path (found ${found}): give the service a host name of its own, such as https://auth.example.com`,
    ]);
  });

  test.each([
    'http://localhost',
    'http://LOCALHOST:1',
    'http://127.9.9.9',
    'http://[::1]:3001',
    'https://id.example',
  ])('in production may be %s', (url) => {
    expect(refusalsOf({ ...production, PUBLIC_BASE_URL: url })).toEqual([]);
  });

  test.each(['http://128.0.0.1', 'http://localhost.example', 'http://[::2]', 'http://10.0.0.1'])(
    'in production may not be %s',
    (url) => {
      expect(refusalsOf({ ...production, PUBLIC_BASE_URL: url })).toEqual([
        'PUBLIC_BASE_URL must use https in production',
      ]);
    },
  );
});

describe('JWT_ISSUER', () => {
  test('is taken byte for byte', () => {
    expect(loaded('JWT_ISSUER', 'https://ID.example:443/%7Ea').tokens.issuer).toBe(
      'https://ID.example:443/%7Ea',
    );
  });

  test.each([
    ['https://id.example/', 'JWT_ISSUER must not end with a slash'],
    ['https://id.example?a', 'JWT_ISSUER must be an absolute URL without query or fragment'],
    ['https://id.example/#', 'JWT_ISSUER must be an absolute URL without query or fragment'],
    ['behest', 'JWT_ISSUER must be an absolute URL without query or fragment'],
  ])('refuses %s', (issuer, message) => {
    expect(refusalsOf({ ...development, JWT_ISSUER: issuer })).toEqual([message]);
  });
});

describe('REDIS_URL', () => {
  test.each([
    'redis://localhost',
    'rediss://user:pw@redis.example:6380/1',
    'rediss://:a,b@one.example,rediss://:a,b@two.example:6380',
    'memory:',
  ])('takes %s', (url) => {
    expect(loaded('REDIS_URL', url).redisUrl).toBe(url);
  });

  test.each([
    ...['localhost:6379', 'http://redis', 'memory', 'memory://', 'redis:', 'redis://'],
    ...['redis://one,rediss://two', 'redis://one,', 'redis://one, redis://two', 'redis://one,memory:'],
  ])('refuses %s', (url) => {
    expect(refusalsOf({ ...development, REDIS_URL: url })).toEqual([
      'REDIS_URL must be a redis:// or rediss:// URL',
    ]);
  });
});

describe('CORS_ALLOWED_ORIGINS and DID_WEB_DOMAIN', () => {
  test.each([
    ...['*', 'https://a.example/', 'https://a.example,', 'a.example', 'https://A.example', 'null'],
    ...['https://a.example:443', 'https://a.example https://b.example'],
  ])('refuse the origin %s', (origin) => {
    expect(refusalsOf({ ...development, CORS_ALLOWED_ORIGINS: origin })).toEqual([
      'CORS_ALLOWED_ORIGINS must be a comma list of http(s) origins without path',
    ]);
  });

  test.each([
    'https://a.example',
    'a.example/b',
    'a.example:99999',
    'a..example',
    '-a.example',
    'a_b.example',
  ])('refuse the domain %s', (domain) => {
    expect(refusalsOf({ ...development, DID_WEB_DOMAIN: domain })).toEqual([
      'DID_WEB_DOMAIN must be a host name, with or without a port',
    ]);
  });
});

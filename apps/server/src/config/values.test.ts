import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../config.ts';
import { development, problemsOf, production, refusalsOf } from './test/environment.ts';

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

const MEND =
  'percent-encode the password if it has such characters: @ as %40, : as %3A, / as %2F, ? as %3F, # as %23, % as %25';
const from = { MAIL_FROM: 'no-reply@auth.example' };

/** What an operator reads when a URL with this password is refused, for each setting that holds a URL. */
function toldOf(password: string) {
  const urls = {
    DATABASE_URL: `postgres://behest:${password}@db.example/behest`,
    MIGRATION_DATABASE_URL: `postgres://behest:${password}@db.example/behest`,
    REDIS_URL: `redis://behest:${password}@redis.example:6379`,
    CAPS_REDIS_URL: `redis://one.example,redis://:${password}@two.example`,
    SMTP_URL: `smtps://behest:${password}@mail.example`,
  };
  return problemsOf({ ...development, ...from, ...urls });
}

const REFUSED = [
  { setting: 'DATABASE_URL', message: `DATABASE_URL must be a PostgreSQL connection string; ${MEND}` },
  {
    setting: 'MIGRATION_DATABASE_URL',
    message: `MIGRATION_DATABASE_URL must be a PostgreSQL connection string; ${MEND}`,
  },
  { setting: 'REDIS_URL', message: `REDIS_URL must be a redis:// or rediss:// URL; ${MEND}` },
  { setting: 'SMTP_URL', message: `SMTP_URL must be an smtp:// or smtps:// URL; ${MEND}` },
  { setting: 'CAPS_REDIS_URL', message: `CAPS_REDIS_URL must be a redis:// or rediss:// URL; ${MEND}` },
];

describe('e04, agents 53: a password in a URL', () => {
  test.each([
    ...['p@ss#1', 'p#ss', '12#ss', 'p/ss', '12/ss', 'p@s/s', 'p?ss', '12?ss', 'p@s?s', '12?a=b&c'],
    ...['abc%zz', '100%', '%ff', '@/#%?'],
  ])('is refused raw, as %s, once for each setting and without a word of it', (password) => {
    expect(toldOf(password)).toEqual(REFUSED);
  });

  test.each(['p%40ss%231', 'p:s', 'p@ss', 'a,b', '%E2%82%AC', "!$&'()*+;=-._~"])(
    'is taken as %s, which means one thing',
    (password) => {
      expect(toldOf(password)).toEqual([]);
    },
  );

  test('is not looked for where there is none', () => {
    const urls = {
      DATABASE_URL: 'postgres://db.example/behest?application_name=a@b',
      SMTP_URL: 'smtp://mail.example?name=a@b',
    };

    expect(problemsOf({ ...development, ...from, ...urls })).toEqual([]);
    expect(problemsOf({ ...development, DATABASE_URL: 'mysql://user@db.example/behest' })).toEqual([
      { setting: 'DATABASE_URL', message: 'DATABASE_URL must be a PostgreSQL connection string' },
    ]);
  });
});

describe('a setting that was refused by itself', () => {
  test('e04: does not count as one that is not set beside its partner', () => {
    const SMTP_URL = 'http://mail.example';

    expect(problemsOf({ ...development, ...from, SMTP_URL })).toEqual([
      { setting: 'SMTP_URL', message: 'SMTP_URL must be an smtp:// or smtps:// URL' },
    ]);
    expect(problemsOf({ ...development, SMTP_URL: 'smtp://mail.example', MAIL_FROM: 'nobody' })).toEqual([
      {
        setting: 'MAIL_FROM',
        message: 'MAIL_FROM must be one e-mail address, with or without a display name',
      },
    ]);
    expect(problemsOf({ ...development, ...from })).toEqual([
      { setting: 'SMTP_URL', message: 'SMTP_URL and MAIL_FROM must be set together' },
    ]);
  });

  test.each([
    ['OPA_URL', { POLICY_BACKEND: 'opa', OPA_URL: 'opa' }],
    ['FIDO_ORIGIN', { FIDO_RP_ID: 'acme.example', FIDO_ORIGIN: 'http://acme.example' }],
    ['PUBLIC_BASE_URL', { FIDO_RP_ID: 'acme.example', PUBLIC_BASE_URL: 'acme.example' }],
    ['PORT', { FIDO_RP_ID: 'localhost', PORT: 'http' }],
  ])('e04: %s brings no second refusal of a setting that needs it', (setting, env) => {
    expect(problemsOf({ ...development, ...env }).map((problem) => problem.setting)).toEqual([setting]);
  });
});

test('p03: FIDO_ORIGIN may name the app of an Android phone beside a page', () => {
  const app = 'android:apk-key-hash:pNiP5iKyQ8JwgGOaKA1zGPUPJIS-0H1xKCQcfIoGLck';
  const FIDO_ORIGIN = `http://localhost:3001,${app}`;

  expect(loadConfig({ ...development, FIDO_ORIGIN }).ofFeatures.FIDO_ORIGIN).toEqual([
    'http://localhost:3001',
    app,
  ]);
});

const folder = mkdtempSync(join(tmpdir(), 'behest-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileWith(content: string | Uint8Array): string {
  const path = join(folder, String(content.length));
  writeFileSync(path, content);
  return path;
}

describe('a secret in a file', () => {
  test('is read from it, without the line break at its end', () => {
    const path = fileWith('redis://from-a-file\n');

    expect(loadConfig({ ...development, REDIS_URL: '', REDIS_URL_FILE: path }).redisUrl).toBe(
      'redis://from-a-file',
    );
  });

  test('may be a key in PEM form', () => {
    const path = fileWith(development.RSA_PRIVATE_KEY ?? '');
    const { RSA_PRIVATE_KEY, ...others } = development;

    const { rsa } = loadConfig({ ...others, RSA_PRIVATE_KEY_FILE: ` ${path} ` }).keys;
    expect(rsa?.thumbprint).toBe(loadConfig(development).keys.rsa?.thumbprint);
  });

  test('is refused beside the secret itself', () => {
    const env = { ...development, REDIS_URL_FILE: fileWith('redis://x') };

    expect(problemsOf(env)).toEqual([
      { setting: 'REDIS_URL', message: 'set either REDIS_URL or REDIS_URL_FILE, not both' },
    ]);
  });

  test.each([
    ['is missing', join(folder, 'missing')],
    ['is a folder', folder],
    ['is not UTF-8', fileWith(Uint8Array.of(0xc3, 0x28))],
  ])('is refused without its path when it %s', (_, path) => {
    const env = { ...development, VAULT_ENCRYPTION_KEY_FILE: path };

    expect(problemsOf(env)).toEqual([
      { setting: 'VAULT_ENCRYPTION_KEY', message: 'VAULT_ENCRYPTION_KEY_FILE cannot be read' },
    ]);
  });

  test('counts as unset when it is empty', () => {
    expect(loadConfig({ ...development, VAULT_ENCRYPTION_KEY_FILE: fileWith(' \n') }).keys.vaultKey).toBe(
      undefined,
    );
  });

  test('is for secrets only', () => {
    expect(loadConfig({ ...development, PORT_FILE: fileWith('80') }).http.port).toBe(3001);
    expect(loadConfig({ ...development, JWT_LEGACY_KID_KEY_FILE: folder }).keys.legacyKey).toBe(undefined);
  });
});

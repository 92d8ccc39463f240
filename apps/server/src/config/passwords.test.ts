import { describe, expect, test } from 'vitest';
import { loadConfig } from '../config.ts';
import { development, problemsOf } from './test/environment.ts';

const MEND =
  'percent-encode the password if it has such characters: @ as %40, : as %3A, / as %2F, ? as %3F, # as %23, % as %25';
const from = { MAIL_FROM: 'no-reply@auth.example' };

/** What an operator is told of a URL with this password, by each setting that holds one. */
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

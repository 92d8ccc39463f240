import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Environment, isSecret } from './config/setting.ts';
import { ownSettings } from './config/settings.ts';
import { development, problemsOf, production, refusalsOf } from './config/test/environment.ts';
import { ConfigError, loadConfig, allSettings as table } from './config.ts';
import vectors from './features/service/keys/keys.vectors.json' with { type: 'json' };
import { features } from './features.ts';

describe('the configuration', () => {
  test('starts from three variables, with every other at its default', () => {
    const { keys, database, ...config } = loadConfig(development);

    // A new feature brings members of its own; docs/configuration.md has the defaults of all.
    expect(config).toEqual({
      environment: 'development',
      isProduction: false,
      logLevel: 'info',
      http: {
        host: '0.0.0.0',
        port: 3001,
        publicBaseUrl: 'http://localhost:3001',
        trustProxy: false,
        corsAllowedOrigins: ['http://localhost:5173'],
        hasDocs: true,
        bodyLimitBytes: 1_048_576,
        shutdownTimeoutSeconds: 25,
      },
      redisUrl: 'redis://localhost',
      tokens: {
        issuer: 'http://localhost:3001',
        maxGrantLifetimeSeconds: 31_536_000,
        maxTtlSeconds: 86_400,
      },
      mail: undefined,
      didWebDomain: 'localhost:3001',
      ofFeatures: expect.objectContaining({
        SIGNUP_MODE: 'open',
        DEFAULT_PLAN: 'free',
        PRINCIPAL_PROOF: undefined,
        GRANT_TOKEN_LEGACY_CLAIMS: true,
        MAX_DELEGATION_DEPTH: 3,
        REUSE_GRACE_SECONDS: 30,
        REFRESH_OVERLAP_SECONDS: 10,
        WEBHOOK_MAX_ATTEMPTS: 5,
        WEBHOOK_ALLOW_PRIVATE_HOSTS: false,
        METRICS_TOKEN: undefined,
        SEED_API_KEY: undefined,
        SEED_SANDBOX_KEY: undefined,
        SEED_CONSENT_KEY: undefined,
      }),
      rateLimits: expect.objectContaining({
        default: 5000,
        planFree: 100,
        planPro: 500,
        planEnterprise: 2000,
        authorize: 10,
        token: 20,
        refresh: 20,
        signup: 30,
        keys: 5,
        consent: 30,
        emailCode: 5,
        principalSession: 10,
        auditLog: 30,
        auditVerify: 10,
        webhookWrite: 30,
      }),
      quotas: {
        free: expect.objectContaining({
          agents: 500,
          active_grants: 1000,
          open_requests: 100,
          webhooks: 30,
          audit_appends: 20_000,
        }),
        pro: expect.objectContaining({
          agents: 5000,
          active_grants: 50_000,
          open_requests: 1000,
          webhooks: 200,
          audit_appends: 1_000_000,
        }),
        enterprise: expect.objectContaining({
          agents: 'unlimited',
          active_grants: 'unlimited',
          open_requests: 10_000,
          webhooks: 'unlimited',
          audit_appends: 'unlimited',
        }),
      },
    });
    expect(database).toEqual({
      app: { connectionString: 'postgres://localhost/behest', ssl: false },
      migrations: { connectionString: 'postgres://localhost/behest', ssl: false },
      poolMax: 10,
      prepares: true,
    });
    expect(keys).toMatchObject({
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
    });
  });

  test('is stricter by default in production', () => {
    const config = loadConfig(production);

    expect(config.isProduction).toBe(true);
    expect(config.http.corsAllowedOrigins).toEqual([]);
  });

  test('follows the port and the public address where no other value is set', () => {
    expect(loadConfig({ ...development, PORT: '8080' }).tokens.issuer).toBe('http://localhost:8080');
    const config = loadConfig({ ...development, PUBLIC_BASE_URL: 'https://id.example:8443' });
    expect(config.tokens.issuer).toBe('https://id.example:8443');
    expect(config.didWebDomain).toBe('id.example:8443');
  });

  test('takes the operator’s values without the white space around them', () => {
    const config = loadConfig({
      ...development,
      HOST: ' ::1 ',
      JWT_ISSUER: 'https://issuer.example/tenant',
      MIGRATION_DATABASE_URL: 'postgresql://direct.example/behest\n',
      DATABASE_POOL_MAX: '500',
      TRUST_PROXY: '10.0.0.0/8, ::1',
      CORS_ALLOWED_ORIGINS: 'https://a.example,http://b.example:81',
      GRANT_TOKEN_LEGACY_CLAIMS: 'false',
      DID_WEB_DOMAIN: 'did.example:444',
      RATE_LIMIT_AUDIT_LOG: '1',
      PLAN_ENTERPRISE_AGENTS: '0',
      PLAN_FREE_ACTIVE_GRANTS: 'unlimited',
    });

    expect(config.http).toMatchObject({
      host: '::1',
      trustProxy: '10.0.0.0/8,::1',
      corsAllowedOrigins: ['https://a.example', 'http://b.example:81'],
    });
    expect(config.tokens.issuer).toBe('https://issuer.example/tenant');
    expect(config.ofFeatures).toMatchObject({ GRANT_TOKEN_LEGACY_CLAIMS: false });
    expect(config.database).toMatchObject({
      migrations: { connectionString: 'postgresql://direct.example/behest' },
      poolMax: 500,
    });
    expect(config.didWebDomain).toBe('did.example:444');
    expect(config.rateLimits.auditLog).toBe(1);
    expect(config.quotas.enterprise.agents).toBe(0);
    expect(config.quotas.free.active_grants).toBe('unlimited');
  });

  test('takes an empty variable as an unset one', () => {
    const empty = Object.fromEntries(Object.keys(table).map((name) => [name, ' ']));

    expect(loadConfig({ ...empty, RATE_LIMIT_NONSENSE: '', ...development })).toEqual(
      loadConfig(development),
    );
    expect(refusalsOf(empty)).toEqual([
      'DATABASE_URL is required',
      'REDIS_URL is required',
      'RSA_PRIVATE_KEY is required (or AUTO_GENERATE_KEYS=true for development)',
    ]);
  });

  test('needs shared stores and configured keys for more than one process', () => {
    const own = { REDIS_URL: 'memory:', CAPS_METER: 'memory', AUTO_GENERATE_KEYS: 'true' };

    expect(refusalsOf({ ...development, ...own, PROCESSES: '1' })).toEqual([]);
    expect(refusalsOf({ ...development, ...own, PROCESSES: '2' })).toEqual([
      'PROCESSES above 1 needs a Redis: REDIS_URL=memory: counts in one process only',
      'PROCESSES above 1 needs a shared store: CAPS_METER=memory counts in one process only',
      'PROCESSES above 1 needs configured keys: AUTO_GENERATE_KEYS makes others in each process',
    ]);
  });

  test('names every problem at once, each with its setting', () => {
    const env = { PORT: '0', LOG_LEVEL: 'loud', RATE_LIMIT_TOKEN: '0', DATABASE_URL: 'mysql://x' };

    expect(problemsOf(env)).toEqual([
      { setting: 'PORT', message: 'PORT must be an integer between 1 and 65535' },
      { setting: 'LOG_LEVEL', message: 'LOG_LEVEL must be debug, info, warn, error or fatal' },
      { setting: 'DATABASE_URL', message: 'DATABASE_URL must be a PostgreSQL connection string' },
      { setting: 'REDIS_URL', message: 'REDIS_URL is required' },
      {
        setting: 'RATE_LIMIT_TOKEN',
        message: 'RATE_LIMIT_TOKEN must be an integer between 1 and 1000000000',
      },
      {
        setting: 'RSA_PRIVATE_KEY',
        message: 'RSA_PRIVATE_KEY is required (or AUTO_GENERATE_KEYS=true for development)',
      },
    ]);
    expect(() => loadConfig(env)).toThrow(ConfigError);
  });
});

test('each setting belongs to one feature, or to none', () => {
  const names = [ownSettings, ...features.map(({ settings }) => settings)].flatMap(Object.keys);

  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

describe('P9: NODE_ENV', () => {
  const onlyForDevelopment: readonly Environment[] = [
    { DATABASE_URL: 'postgres://db.example.com/behest' },
    { REDIS_URL: 'memory:' },
    { PUBLIC_BASE_URL: 'http://auth.example.com' },
    { RSA_PRIVATE_KEY: development.RSA_PRIVATE_KEY },
    { AUTO_GENERATE_KEYS: 'true' },
    { SEED_API_KEY: 'a-key-of-sixteen-letters' },
    { WEBHOOK_ALLOW_PRIVATE_HOSTS: 'true' },
  ];

  test.each([undefined, '', ' '])('is production where it is %j', (NODE_ENV) => {
    expect(loadConfig({ ...production, NODE_ENV })).toMatchObject({
      isProduction: true,
      environment: 'production',
    });
    for (const change of onlyForDevelopment) {
      const refused = refusalsOf({ ...production, ...change, NODE_ENV: 'production' });
      expect(refused).not.toEqual([]);
      expect(refusalsOf({ ...production, ...change, NODE_ENV })).toEqual(refused);
    }
  });

  test('shows the API at `/docs` in development, and in production where the operator wants it', () => {
    const hasDocs = (env: object) => loadConfig({ ...production, ...env }).http.hasDocs;

    expect([hasDocs({}), hasDocs({ DOCS_ENABLED: 'true' })]).toEqual([false, true]);
    const NODE_ENV = 'development';
    expect([hasDocs({ NODE_ENV }), hasDocs({ NODE_ENV, DOCS_ENABLED: 'false' })]).toEqual([true, false]);
  });

  test('takes all of them where it is `development` or `test`', () => {
    for (const NODE_ENV of ['development', 'test']) {
      expect(loadConfig({ ...production, NODE_ENV }).isProduction).toBe(false);
      for (const change of onlyForDevelopment) {
        expect(refusalsOf({ ...production, ...change, NODE_ENV })).toEqual([]);
      }
    }
  });
});

describe('the key store postgres', () => {
  const store = { ...development, SIGNING_KEY_STORE: 'postgres', VAULT_ENCRYPTION_KEY: 'ab'.repeat(32) };

  test('is sealed with the vault key', () => {
    expect(problemsOf(store)).toEqual([]);
    expect(problemsOf({ ...store, VAULT_ENCRYPTION_KEY: '' })).toEqual([
      { setting: 'SIGNING_KEY_STORE', message: 'SIGNING_KEY_STORE=postgres requires VAULT_ENCRYPTION_KEY' },
    ]);
  });

  test('publishes a retired key for as long as a grant may live, and refuses less', () => {
    const spans = { MAX_GRANT_LIFETIME_SECONDS: '3600', SIGNING_KEY_RETIRED_GRACE_SECONDS: '3599' };
    const message =
      'SIGNING_KEY_RETIRED_GRACE_SECONDS (3599) must not be shorter than MAX_GRANT_LIFETIME_SECONDS (3600)';

    expect(problemsOf({ ...store, ...spans })).toEqual([
      { setting: 'SIGNING_KEY_RETIRED_GRACE_SECONDS', message },
    ]);
    expect(problemsOf({ ...store, ...spans, SIGNING_KEY_RETIRED_GRACE_SECONDS: '3600' })).toEqual([]);
    expect(problemsOf({ ...development, ...spans })).toEqual([]);
  });

  test('may hold the EC key that the settings lack', () => {
    const settings = {
      RSA_PRIVATE_KEY: vectors.rsa.privateKey,
      AUTO_GENERATE_KEYS: '',
      JWT_SIGNING_ALG: 'ES256',
    };

    expect(problemsOf({ ...store, ...settings })).toEqual([]);
  });

  test('is the only one with a schedule', () => {
    expect(problemsOf({ ...store, SIGNING_KEY_ROTATION_SECONDS: '86400' })).toEqual([]);
    expect(problemsOf({ ...development, SIGNING_KEY_ROTATION_SECONDS: '86400' })).toEqual([
      {
        setting: 'SIGNING_KEY_ROTATION_SECONDS',
        message: 'SIGNING_KEY_ROTATION_SECONDS requires SIGNING_KEY_STORE=postgres',
      },
    ]);
  });
});

describe('a setting out of its range', () => {
  test.each([
    ['NODE_ENV', 'must be production, development or test', ['prod', 'Production']],
    ['HOST', 'must be an IP address', ['localhost', '1.2.3', '1.2.3.4:80']],
    ['PORT', 'must be an integer between 1 and 65535', ['0', '65536', '-1', '1.5', '0x50', '1e3', 'http']],
    ['LOG_LEVEL', 'must be debug, info, warn, error or fatal', ['INFO', 'trace']],
    ['DATABASE_POOL_MAX', 'must be an integer between 1 and 500', ['0', '501']],
    ['BODY_LIMIT_BYTES', 'must be an integer between 1024 and 104857600', ['1023', '104857601', '1mb']],
    ['SHUTDOWN_TIMEOUT_SECONDS', 'must be an integer between 1 and 300', ['0', '301', '25s']],
    ['JWT_LEGACY_KID_MONTHS', 'must be an integer between 1 and 120', ['0', '121']],
    ['SIGNING_KEY_ACTIVATION_DELAY_SECONDS', 'must be an integer between 0 and 86400', ['86401', '-0']],
    ['SIGNING_KEY_RETIRED_GRACE_SECONDS', 'must be an integer between 0 and 315360000', ['-1', '315360001']],
    ['MAX_GRANT_LIFETIME_SECONDS', 'must be an integer between 60 and 315360000', ['59', '315360001']],
    ['GRANT_TOKEN_MAX_TTL_SECONDS', 'must be an integer between 60 and 31536000', ['59', '31536001']],
    ['REUSE_GRACE_SECONDS', 'must be an integer between 0 and 300', ['301']],
    ['REFRESH_OVERLAP_SECONDS', 'must be an integer between 0 and 60', ['61', '-1']],
    ['MAX_DELEGATION_DEPTH', 'must be an integer between 1 and 10', ['0', '11']],
    ['GRANT_TOKEN_LEGACY_CLAIMS', 'must be true or false', ['TRUE', '1', 'yes']],
    ['AUTO_GENERATE_KEYS', 'must be true or false', ['on']],
    ['JWT_SIGNING_ALG', 'must be RS256 or ES256', ['rs256', 'EdDSA', 'HS256', 'none']],
    ['SIGNING_KEY_STORE', 'must be env or postgres', ['redis', 'Postgres', 'true']],
    [
      'SIGNING_KEY_ROTATION_SECONDS',
      'must be an integer between 0 and 315360000',
      ['-1', '1.5', '315360001'],
    ],
    ['ADMIN_API_KEY', 'must be at least 32 characters', ['x'.repeat(31)]],
    [
      'ED25519_PREVIOUS_PUBLIC_KEYS',
      'must be a comma list of Ed25519 Multikeys (z6Mk…)',
      [
        'key',
        'z6Mk',
        'z6MkpmbjaCbDiC1H8kAarwMD15iGZEg53W2udx5n1ZFiCji0',
        'zDnaerx9CtbPJ1q36T5Ln5wYt3MQYeGRG5ehnPAmxcf5mDZpv',
      ],
    ],
    ['SIGNUP_MODE', 'must be open or closed', ['Open']],
    [
      'METRICS_TOKEN',
      'must be at least 16 printable ASCII characters without blanks',
      ['short', 'with a blank in it'],
    ],
    [
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'must be an absolute http(s) URL',
      ['collector:4318', 'localhost', 'grpc://collector:4317', 'http://', 'https:///v1', 'http://a b', '/v1'],
    ],
    ['SSO_STATE_SECRET', 'must be at least 32 characters', ['x'.repeat(31)]],
    ['OTEL_SERVICE_NAME', 'must be 1 to 100 characters', ['x'.repeat(101)]],
    ['SMTP_URL', 'must be an smtp:// or smtps:// URL', ['http://mail', 'smtp:', 'smtp://']],
    [
      'MAIL_FROM',
      'must be one e-mail address, with or without a display name',
      ['nobody', 'a@b.c, d@e.f', 'A <a@b.c> x'],
    ],
    ['PRINCIPAL_PROOF', 'must be required or optional', ['none']],
    ['DEFAULT_PLAN', 'must be free, pro or enterprise', ['gold']],
    ['RATE_LIMIT_DEFAULT', 'must be an integer between 1 and 1000000000', ['0', '1000000001', 'unlimited']],
    [
      'PLAN_PRO_AGENTS',
      'must be an integer between 0 and 1000000000, or unlimited',
      ['-1', '1000000001', 'none'],
    ],
    [
      'SEED_API_KEY',
      'must be 16 to 512 printable ASCII characters without blanks',
      ['short', 'a b'.repeat(9)],
    ],
    ['SEED_CONSENT_KEY', 'must be the private JWK of an EC P-256 key', ['{}', 'null', '{"kty":"EC"', '[]']],
  ])('%s %s', (name, expected, values) => {
    for (const value of values) {
      const problems = problemsOf({ ...development, [name]: value });

      expect(problems, value).toEqual([{ setting: name, message: `${name} ${expected}` }]);
    }
  });

  test('is refused by its name when it is a limit that does not exist', () => {
    const names = ['RATE_LIMIT_TOKENS', 'RATE_LIMIT_PLAN', 'PLAN_FREE_HOOKS', 'PLAN_PRO_', 'RATE_LIMIT_'];
    for (const name of names) {
      expect(problemsOf({ ...development, [name]: '1' })).toEqual([
        { setting: name, message: `${name} is not a known limit` },
      ]);
    }
    expect(problemsOf({ ...development, PLAN_GOLD_AGENTS: '1', UNRELATED: '1' })).toEqual([]);
  });

  test('is checked, and not used, when it is a limit of a later release', () => {
    const later = { RATE_LIMIT_VAULT_EXCHANGE: '20', PLAN_PRO_DOMAINS: 'unlimited' };

    expect(problemsOf({ ...development, ...later })).toEqual([]);
    expect(refusalsOf({ ...development, RATE_LIMIT_VAULT_EXCHANGE: 'many' })).toEqual([
      'RATE_LIMIT_VAULT_EXCHANGE must be an integer between 1 and 1000000000',
    ]);
  });

  test('takes both ends of every range', () => {
    const ends = { PORT: '65535', SHUTDOWN_TIMEOUT_SECONDS: '1', SIGNING_KEY_ACTIVATION_DELAY_SECONDS: '0' };

    expect(problemsOf({ ...development, ...ends, REUSE_GRACE_SECONDS: '300' })).toEqual([]);
  });
});

describe('in production', () => {
  const SEEDS = 'SEED_API_KEY, SEED_SANDBOX_KEY and SEED_CONSENT_KEY must not be set in production';
  const consentKey = JSON.stringify({
    kty: 'EC',
    crv: 'P-256',
    d: 'JcyFVGEsr9gQEmfYqnH_uaxJR4V9YOZPRHkMQFPlrSg',
    x: 'fmESt8Hx-RQxdnCo475snO3keEaD0yJi45CAhI4AuWU',
    y: 'gkmo9G0pWbbIS6zK9jG7_Gsj65QF5V4p793h2WvRW2g',
  });

  test.each([
    ['AUTO_GENERATE_KEYS', 'true', 'AUTO_GENERATE_KEYS is for development only'],
    ['SEED_API_KEY', 'a-development-key', SEEDS],
    ['SEED_SANDBOX_KEY', 'a-development-key', SEEDS],
    ['SEED_CONSENT_KEY', consentKey, SEEDS],
    ['REDIS_URL', 'memory:', 'REDIS_URL must be a redis:// or rediss:// URL'],
    ['PUBLIC_BASE_URL', 'http://id.example', 'PUBLIC_BASE_URL must use https in production'],
    [
      'DATABASE_URL',
      'postgres://db.example/behest',
      'DATABASE_URL must use sslmode=require or stricter in production',
    ],
    [
      'MIGRATION_DATABASE_URL',
      'postgres://db.example/behest?sslmode=prefer',
      'MIGRATION_DATABASE_URL must use sslmode=require or stricter in production',
    ],
  ])('P6: %s is refused with a value that serves development only', (setting, value, message) => {
    expect(problemsOf({ ...production, [setting]: value })).toEqual([{ setting, message }]);
    expect(problemsOf({ ...development, [setting]: value })).toEqual([]);
  });

  test('a switch that is off and an address on the machine are allowed', () => {
    const harmless = { AUTO_GENERATE_KEYS: 'false', PUBLIC_BASE_URL: 'http://127.0.0.1:3001' };

    expect(problemsOf({ ...production, ...harmless })).toEqual([]);
  });

  test('outside it, the two seed keys have to differ', () => {
    const key = 'a-development-key';

    expect(refusalsOf({ ...development, SEED_API_KEY: key, SEED_SANDBOX_KEY: key })).toEqual([
      'SEED_API_KEY and SEED_SANDBOX_KEY must differ',
    ]);
    expect(
      loadConfig({ ...development, SEED_API_KEY: key, SEED_CONSENT_KEY: consentKey }).ofFeatures,
    ).toMatchObject({
      SEED_API_KEY: key,
      SEED_CONSENT_KEY: { type: 'private', asymmetricKeyType: 'ec' },
    });
  });
});

describe('a secret', () => {
  const secrets = Object.keys(table).filter(isSecret);

  test('J12, P6: is never repeated by a refusal, whatever its value is', () => {
    const shapes = (secret: string) => [
      secret,
      `postgres://user:${secret}@db.example/behest`,
      `postgres://user:${secret}@db.example,other.example/behest?sslmode=${secret}`,
      `redis://:${secret}@`,
      `-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----`,
      `-----BEGIN ${secret.toUpperCase()}-----`,
      JSON.stringify([{ kty: 'oct', k: secret }]),
      JSON.stringify({ keys: [{ kty: secret, alg: secret, kid: secret, n: secret }] }),
      JSON.stringify({ kty: 'EC', crv: 'P-256', d: secret }),
      `{"d":"${secret}"`,
    ];
    const secretText = fc.stringMatching(/^[a-z0-9]{17,40}$/);
    fc.assert(
      fc.property(secretText, fc.constantFrom(...secrets), fc.boolean(), (secret, name, isProduction) => {
        for (const value of shapes(secret)) {
          const env = { ...(isProduction ? production : development), [name]: value };
          const said = refusalsOf(env).join('\n').toLowerCase();
          expect(said).not.toContain(secret);
        }
      }),
    );
  });

  test('has one of the names that the guide gives, and no other', () => {
    expect(secrets.toSorted()).toEqual(
      [
        'DATABASE_URL',
        'MIGRATION_DATABASE_URL',
        'REDIS_URL',
        'CAPS_REDIS_URL',
        'RSA_PRIVATE_KEY',
        'EC_PRIVATE_KEY',
        'ED25519_PRIVATE_KEY',
        'JWT_VERIFICATION_PUBLIC_KEYS',
        'SSO_STATE_SECRET',
        'VAULT_ENCRYPTION_KEY',
        'VAULT_ENCRYPTION_KEYS_PREVIOUS',
        'ADMIN_API_KEY',
        'SMTP_URL',
        'STRIPE_SECRET_KEY',
        'STRIPE_WEBHOOK_SECRET',
        'SEED_API_KEY',
        'SEED_SANDBOX_KEY',
        'SEED_CONSENT_KEY',
        'METRICS_TOKEN',
      ].toSorted(),
    );
  });
});

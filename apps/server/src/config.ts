import type { KeyObject } from 'node:crypto';
import type { DatabaseOptions } from './config/database.ts';
import { checkKeys } from './config/keys.ts';
import { type Quotas, readLimits } from './config/limits.ts';
import { completed, type Environment, type Problem, readSettings } from './config/setting.ts';
import { settings } from './config/settings.ts';
import type { KeySettings } from './features/service/keys/index.ts';
import type { Plan } from './platform/caller.ts';
import type { RateLimits } from './platform/http/limits/rate-rules.ts';

export { ConfigError } from './config/setting.ts';

/** Everything the operator decides, read once at start. Features receive the few values they need of it. */
export interface Config {
  readonly environment: 'production' | 'development' | 'test';
  readonly isProduction: boolean;
  /** What `/metrics` is asked with, where it is not asked from this machine in development. */
  readonly metricsToken: string | undefined;
  /** Undefined where nothing is traced. */
  readonly tracing: { readonly endpoint: string; readonly serviceName: string } | undefined;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'fatal';
  readonly http: HttpSettings;
  readonly database: {
    readonly app: DatabaseOptions;
    /** A direct connection, where `app` is a pooler's. */
    readonly migrations: DatabaseOptions;
    readonly poolMax: number;
  };
  /** `redis://…`, `rediss://…`, or `memory:` outside production. */
  readonly redisUrl: string;
  readonly keys: KeySettings;
  readonly tokens: TokenSettings;
  /** Undefined where no mail is sent. */
  readonly mail: { readonly url: string; readonly from: string } | undefined;
  readonly signupMode: 'open' | 'closed';
  readonly principalProof: 'required' | 'optional';
  readonly defaultPlan: Plan;
  /** Host, and port if any, in the DIDs of new agents; the port's colon is not encoded here. */
  readonly didWebDomain: string;
  readonly webhooks: { readonly maxAttempts: number; readonly allowsPrivateHosts: boolean };
  readonly seed: SeedSettings;
  /** Requests a minute. */
  readonly rateLimits: RateLimits;
  readonly quotas: Quotas;
}

interface HttpSettings {
  readonly host: string;
  readonly port: number;
  /** Absolute, without a trailing slash. */
  readonly publicBaseUrl: string;
  /** In the form that Fastify takes. */
  readonly trustProxy: false | number | string;
  readonly corsAllowedOrigins: readonly string[];
  readonly bodyLimitBytes: number;
  readonly shutdownTimeoutSeconds: number;
}

interface TokenSettings {
  /** The `iss` of every token, compared byte for byte. */
  readonly issuer: string;
  readonly maxGrantLifetimeSeconds: number;
  readonly maxTtlSeconds: number;
  readonly reuseGraceSeconds: number;
  readonly maxDelegationDepth: number;
  readonly issuesLegacyClaims: boolean;
}

/** What development accounts are made with; in production nothing. */
interface SeedSettings {
  readonly apiKey: string | undefined;
  readonly sandboxKey: string | undefined;
  /** Private, EC P-256. */
  readonly consentKey: KeyObject | undefined;
}

/**
 * Reads the environment, and the files that `<NAME>_FILE` and a database URL's `ssl…` parameters name.
 * @throws ConfigError with every problem there is
 */
export function loadConfig(env: Environment): Config {
  const problems: Problem[] = [];
  const read = readSettings(settings, env, problems);
  const limits = readLimits(env, problems);
  const checkedKeys = checkKeys(read, problems);
  if (read.SEED_API_KEY && read.SEED_API_KEY === read.SEED_SANDBOX_KEY) {
    problems.push({ setting: 'SEED_SANDBOX_KEY', message: 'SEED_API_KEY and SEED_SANDBOX_KEY must differ' });
  }
  if ((read.SMTP_URL === undefined) !== (read.MAIL_FROM === undefined)) {
    const setting = read.SMTP_URL === undefined ? 'SMTP_URL' : 'MAIL_FROM';
    problems.push({ setting, message: 'SMTP_URL and MAIL_FROM must be set together' });
  }

  const values = completed(read, problems);
  const isProduction = values.NODE_ENV === 'production';
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SERVICE_NAME: serviceName } = values;
  const publicBaseUrl = values.PUBLIC_BASE_URL ?? `http://localhost:${values.PORT}`;
  return {
    environment: values.NODE_ENV,
    isProduction,
    metricsToken: values.METRICS_TOKEN,
    tracing: endpoint === undefined ? undefined : { endpoint, serviceName },
    logLevel: values.LOG_LEVEL,
    http: {
      host: values.HOST,
      port: values.PORT,
      publicBaseUrl,
      trustProxy: values.TRUST_PROXY,
      corsAllowedOrigins: values.CORS_ALLOWED_ORIGINS ?? (isProduction ? [] : ['http://localhost:5173']),
      bodyLimitBytes: values.BODY_LIMIT_BYTES,
      shutdownTimeoutSeconds: values.SHUTDOWN_TIMEOUT_SECONDS,
    },
    database: {
      app: values.DATABASE_URL,
      migrations: values.MIGRATION_DATABASE_URL ?? values.DATABASE_URL,
      poolMax: values.DATABASE_POOL_MAX,
    },
    redisUrl: values.REDIS_URL,
    keys: {
      rsa: values.RSA_PRIVATE_KEY,
      ec: values.EC_PRIVATE_KEY,
      ed25519: values.ED25519_PRIVATE_KEY,
      generatesMissing: values.AUTO_GENERATE_KEYS,
      signingAlg: values.JWT_SIGNING_ALG,
      ...checkedKeys,
      legacyMonths: values.JWT_LEGACY_KID_MONTHS,
      activationDelaySeconds: values.SIGNING_KEY_ACTIVATION_DELAY_SECONDS,
      vaultKey: values.VAULT_ENCRYPTION_KEY,
      previousVaultKeys: values.VAULT_ENCRYPTION_KEYS_PREVIOUS ?? [],
    },
    tokens: {
      issuer: values.JWT_ISSUER ?? publicBaseUrl,
      maxGrantLifetimeSeconds: values.MAX_GRANT_LIFETIME_SECONDS,
      maxTtlSeconds: values.GRANT_TOKEN_MAX_TTL_SECONDS,
      reuseGraceSeconds: values.REUSE_GRACE_SECONDS,
      maxDelegationDepth: values.MAX_DELEGATION_DEPTH,
      issuesLegacyClaims: values.GRANT_TOKEN_LEGACY_CLAIMS,
    },
    mail: values.SMTP_URL && values.MAIL_FROM ? { url: values.SMTP_URL, from: values.MAIL_FROM } : undefined,
    signupMode: values.SIGNUP_MODE,
    principalProof: values.PRINCIPAL_PROOF ?? (isProduction ? 'required' : 'optional'),
    defaultPlan: values.DEFAULT_PLAN,
    didWebDomain: values.DID_WEB_DOMAIN ?? new URL(publicBaseUrl).host,
    webhooks: {
      maxAttempts: values.WEBHOOK_MAX_ATTEMPTS,
      allowsPrivateHosts: values.WEBHOOK_ALLOW_PRIVATE_HOSTS,
    },
    seed: {
      apiKey: values.SEED_API_KEY,
      sandboxKey: values.SEED_SANDBOX_KEY,
      consentKey: values.SEED_CONSENT_KEY,
    },
    ...limits,
  };
}

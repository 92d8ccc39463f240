import type { DatabaseSettings } from './config/database.ts';
import { checkKeys } from './config/keys.ts';
import { quotaSettings, rateSettings, readLimits } from './config/limits.ts';
import {
  completed,
  type Environment,
  isProductionAs,
  readSettings,
  type SettingProblem,
  type Settings,
  type ValuesOf,
} from './config/setting.ts';
import { ownSettings } from './config/settings.ts';
import type { KeySettings } from './features/service/keys/index.ts';
import { features, limits } from './features.ts';
import type { TrustedProxies } from './platform/http/callers/client-address.ts';
import type { RateLimits } from './platform/http/limits/rate-rules.ts';
import type { Quotas } from './platform/quotas.ts';

export { ConfigError } from './config/setting.ts';

/** All settings of the operator, read once at start. Features receive the few values that they need. */
export interface Config {
  readonly environment: 'production' | 'development' | 'test';
  readonly isProduction: boolean;
  /** Undefined when tracing is off. */
  readonly tracing: { readonly endpoint: string; readonly serviceName: string } | undefined;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'fatal';
  readonly http: HttpSettings;
  readonly database: {
    readonly app: DatabaseSettings;
    /** A direct connection, when `app` leads to a pooler. */
    readonly migrations: DatabaseSettings;
    readonly poolMax: number;
    /** Whether connections prepare the statements of the request path. */
    readonly prepares: boolean;
  };
  /** `redis://…`, `rediss://…`, or `memory:` outside production. */
  readonly redisUrl: string;
  readonly keys: KeySettings;
  readonly tokens: TokenSettings;
  /** Undefined when the service sends no mail. */
  readonly mail: { readonly url: string; readonly from: string } | undefined;
  /** Host, and port if any, in the DIDs of the service and of new agents; the port's colon is not encoded here. */
  readonly didWebDomain: string;
  /** The values of all features' settings, by the names that operators use. */
  readonly ofFeatures: Readonly<Record<string, unknown>>;
  /** Requests a minute. */
  readonly rateLimits: RateLimits;
  readonly quotas: Quotas;
}

interface HttpSettings {
  readonly host: string;
  readonly port: number;
  /** Absolute, without a trailing slash. */
  readonly publicBaseUrl: string;
  readonly trustProxy: TrustedProxies;
  readonly corsAllowedOrigins: readonly string[];
  /** Whether there is a page that shows the API. */
  readonly hasDocs: boolean;
  readonly bodyLimitBytes: number;
  readonly shutdownTimeoutSeconds: number;
}

interface TokenSettings {
  /** The `iss` of every token, compared byte for byte. */
  readonly issuer: string;
  readonly maxGrantLifetimeSeconds: number;
  readonly maxTtlSeconds: number;
}

const keyStoreOf = (values: ValuesOf<typeof ownSettings>) => ({
  retiredGraceSeconds: values.SIGNING_KEY_RETIRED_GRACE_SECONDS,
  rotationSeconds: values.SIGNING_KEY_ROTATION_SECONDS,
});

/** The settings of all features. */
const featureSettings: Settings = Object.assign({}, ...features.map(({ settings }) => settings));

/** Every variable that the service reads. */
export const allSettings: Settings = {
  ...ownSettings,
  ...featureSettings,
  ...rateSettings(limits),
  ...quotaSettings(limits),
};

/**
 * Reads the environment, and the files that `<NAME>_FILE` and a database URL's `ssl…` parameters name.
 * @throws ConfigError with every problem found
 */
export function loadConfig(env: Environment): Config {
  const problems: SettingProblem[] = [];
  const read = readSettings(ownSettings, env, problems);
  const ofFeatures = readSettings(featureSettings, env, problems);
  const readings = readLimits(limits, env, problems);
  const checkedKeys = checkKeys(read, problems);
  const publicBaseUrl = read.PUBLIC_BASE_URL ?? `http://localhost:${read.PORT}`;
  // A setting that was refused by itself is not refused again, as though it were not set.
  const isRead = (...names: string[]) => names.every((name) => name in read || name in ofFeatures);
  for (const { settings, checkSettings } of features) {
    if (!isRead(...Object.keys(settings), 'PUBLIC_BASE_URL', 'PORT')) continue;
    checkSettings(ofFeatures, (setting, message) => problems.push({ setting, message }), { publicBaseUrl });
  }
  if (isRead('SMTP_URL', 'MAIL_FROM') && (read.SMTP_URL === undefined) !== (read.MAIL_FROM === undefined)) {
    const setting = read.SMTP_URL === undefined ? 'SMTP_URL' : 'MAIL_FROM';
    problems.push({ setting, message: 'SMTP_URL and MAIL_FROM must be set together' });
  }

  if (read.PROCESSES !== undefined && read.PROCESSES > 1) {
    const refuse = (message: string) => problems.push({ setting: 'PROCESSES', message });
    if (read.REDIS_URL === 'memory:')
      refuse('PROCESSES above 1 needs a Redis: REDIS_URL=memory: counts in one process only');
    if (ofFeatures.CAPS_METER === 'memory')
      refuse('PROCESSES above 1 needs a shared store: CAPS_METER=memory counts in one process only');
    if (read.AUTO_GENERATE_KEYS)
      refuse('PROCESSES above 1 needs configured keys: AUTO_GENERATE_KEYS makes others in each process');
  }

  const values = completed(read, problems);
  const isProduction = isProductionAs(values.NODE_ENV);
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SERVICE_NAME: serviceName } = values;
  return {
    environment: values.NODE_ENV,
    isProduction,
    tracing: endpoint === undefined ? undefined : { endpoint, serviceName },
    logLevel: values.LOG_LEVEL,
    http: {
      host: values.HOST,
      port: values.PORT,
      publicBaseUrl,
      trustProxy: values.TRUST_PROXY,
      corsAllowedOrigins: values.CORS_ALLOWED_ORIGINS ?? (isProduction ? [] : ['http://localhost:5173']),
      hasDocs: values.DOCS_ENABLED ?? !isProduction,
      bodyLimitBytes: values.BODY_LIMIT_BYTES,
      shutdownTimeoutSeconds: values.SHUTDOWN_TIMEOUT_SECONDS,
    },
    database: {
      app: values.DATABASE_URL,
      migrations: values.MIGRATION_DATABASE_URL ?? values.DATABASE_URL,
      poolMax: values.DATABASE_POOL_MAX,
      prepares: values.DATABASE_PREPARED_STATEMENTS,
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
      formerIdentities: values.ED25519_PREVIOUS_PUBLIC_KEYS ?? [],
      store: values.SIGNING_KEY_STORE === 'env' ? undefined : keyStoreOf(values),
    },
    tokens: {
      issuer: values.JWT_ISSUER ?? publicBaseUrl,
      maxGrantLifetimeSeconds: values.MAX_GRANT_LIFETIME_SECONDS,
      maxTtlSeconds: values.GRANT_TOKEN_MAX_TTL_SECONDS,
    },
    mail: values.SMTP_URL && values.MAIL_FROM ? { url: values.SMTP_URL, from: values.MAIL_FROM } : undefined,
    didWebDomain: values.DID_WEB_DOMAIN ?? new URL(publicBaseUrl).host,
    ofFeatures,
    ...readings,
  };
}

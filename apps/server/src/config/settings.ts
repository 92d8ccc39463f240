import {
  baseUrl,
  hostAndPort,
  httpUrl,
  issuer,
  mailAddress,
  origins,
  redisUrl,
  smtpUrl,
  trustProxy,
} from './addresses.ts';
import { databaseUrl } from './database.ts';
import { ecPrivateKey, ed25519PrivateKey, multikeys, rsaPrivateKey } from './private-keys.ts';
import {
  anyText,
  boolean,
  integer,
  ipAddress,
  notInProduction,
  oneOf,
  processCount,
  textOf,
} from './readers.ts';
import { vaultKey, vaultKeys } from './secrets.ts';
import { defaulted, optional, required } from './setting.ts';
import { jwkEntries } from './verification-keys.ts';

const MAX_SECONDS = 315_360_000; // ten years of 365 days

const server = {
  NODE_ENV: defaulted(
    oneOf('production', 'development', 'test'),
    'production',
    'In production, the service refuses values that serve development only. Unset means production, so that a forgotten variable opens nothing.',
  ),
  HOST: defaulted(ipAddress, '0.0.0.0', 'The address that the service listens on.'),
  PORT: defaulted(integer(1, 65_535), '3001', 'The port that the service listens on.'),
  PROCESSES: defaulted(
    processCount,
    '1',
    'How many processes serve the port; `auto` is one for each core. They share no memory, so more than one needs a Redis, no `memory` store of caps, and configured keys. Each has `DATABASE_POOL_MAX` connections of its own.',
  ),
  PUBLIC_BASE_URL: optional(
    baseUrl,
    '`http://localhost:<PORT>`',
    'The address at which clients reach the service. In production it is `https`, unless the host is loopback.',
  ),
  DID_WEB_DOMAIN: optional(
    hostAndPort,
    'host and port of `PUBLIC_BASE_URL`',
    'The host in the DIDs of new agents. The DIDs of existing agents stay.',
  ),
  TRUST_PROXY: defaulted(
    trustProxy,
    'false',
    'The proxies whose `X-Forwarded-For` the service believes. With `false` the address of the socket counts.',
  ),
  CORS_ALLOWED_ORIGINS: optional(
    origins,
    'in production none, else `http://localhost:5173`',
    'Web pages whose scripts may call the API.',
  ),
  DOCS_ENABLED: optional(
    boolean,
    'in production `false`, else `true`',
    'Whether the service shows its API at `/docs`. `/openapi.json` is there in any case.',
  ),
  BODY_LIMIT_BYTES: defaulted(
    integer(1024, 104_857_600),
    '1048576',
    'The largest request body. Routes that ask for no API key take at most 65536 bytes. A route may have a size of its own; the limits are listed below.',
  ),
  SHUTDOWN_TIMEOUT_SECONDS: defaulted(
    integer(1, 300),
    '25',
    'The time for which a stop waits for requests in flight. After it the process ends with code 1.',
  ),
  LOG_LEVEL: defaulted(
    oneOf('debug', 'info', 'warn', 'error', 'fatal'),
    'info',
    'The least severe lines that the service writes.',
  ),
};

const stores = {
  DATABASE_URL: required(
    databaseUrl,
    'The database of all lasting data. In production it needs TLS; see below.',
  ),
  MIGRATION_DATABASE_URL: optional(
    databaseUrl,
    '`DATABASE_URL`',
    'A direct connection for migrations, when `DATABASE_URL` leads to a pooler.',
  ),
  DATABASE_POOL_MAX: defaulted(
    integer(1, 500),
    '10',
    'The most connections of one process, without up to four that count calls against caps and record exports. Reads of many audit entries together use at most three of them, and of fewer than six at most half.',
  ),
  DATABASE_PREPARED_STATEMENTS: defaulted(
    boolean,
    'true',
    'Whether each connection prepares the statements of the request path once. A pooler that shares connections has to support it: PgBouncer does from 1.21 on, unless `max_prepared_statements` is 0.',
  ),
  REDIS_URL: required(
    redisUrl,
    'The store of rate-limit counters and authorization requests in flight. A comma list of such URLs names some nodes of a Redis Cluster, which share user and password. Outside production, `memory:` serves a single process and forgets when it ends.',
  ),
};

const keys = {
  RSA_PRIVATE_KEY: optional(
    rsaPrivateKey,
    'required unless `AUTO_GENERATE_KEYS=true`',
    'The key that signs tokens, of at least 2048 bits.',
  ),
  EC_PRIVATE_KEY: optional(
    ecPrivateKey,
    'none',
    'The key that signs tokens with `JWT_SIGNING_ALG=ES256`. Before that, the service only publishes it.',
  ),
  ED25519_PRIVATE_KEY: optional(
    ed25519PrivateKey,
    'none',
    "The key that proves statements of the service under its DID. Only the service's DID document names it, and it signs no token.",
  ),
  ED25519_PREVIOUS_PUBLIC_KEYS: optional(
    multikeys,
    'none',
    "Former Ed25519 keys, as Multikeys. The service's DID document names them, so that old proofs verify.",
  ),
  AUTO_GENERATE_KEYS: defaulted(
    notInProduction(boolean, (value) => value, 'AUTO_GENERATE_KEYS is for development only'),
    'false',
    'Generates the RSA key, the Ed25519 key and, for ES256, the EC key when they are missing. These keys end with the process, and every token with them. Refused in production.',
  ),
  JWT_SIGNING_ALG: defaulted(oneOf('RS256', 'ES256'), 'RS256', 'The algorithm that signs new tokens.'),
  JWT_ISSUER: optional(issuer, '`PUBLIC_BASE_URL`', 'The `iss` of every token, byte for byte.'),
  JWT_VERIFICATION_PUBLIC_KEYS: optional(
    jwkEntries,
    'none',
    'Further public keys, RSA or P-256, that tokens verify with: former and coming keys. The service publishes them and never signs with them.',
  ),
  JWT_LEGACY_KID_KEY: optional(
    anyText('the key id or thumbprint of a configured RSA key'),
    'the key of `RSA_PRIVATE_KEY`',
    'The key that verifies tokens without a `kid`, or with a `kid` of the form `service-YYYY-MM`.',
  ),
  JWT_LEGACY_KID_MONTHS: defaulted(
    integer(1, 120),
    '13',
    'The number of months, the current month included, for which the service publishes that key as `service-YYYY-MM`.',
  ),
  SIGNING_KEY_STORE: defaulted(
    oneOf('env', 'postgres'),
    'env',
    'The place of signing keys: these variables, or the database, which all instances share. The keys of these variables begin the life of that store, and `VAULT_ENCRYPTION_KEY` seals it.',
  ),
  SIGNING_KEY_ACTIVATION_DELAY_SECONDS: defaulted(
    integer(0, 86_400),
    '900',
    'The time after its start for which a process still signs as RS256 under `service-YYYY-MM`, while verifiers fetch its published keys. With `SIGNING_KEY_STORE=postgres`, the time for which a key is published before it signs.',
  ),
  SIGNING_KEY_RETIRED_GRACE_SECONDS: defaulted(
    integer(0, MAX_SECONDS),
    '34214400',
    'The time for which a key that signs no longer stays published. It has no effect with `SIGNING_KEY_STORE=env`, where a key stays as long as a setting names it. With `postgres`, it is no shorter than `MAX_GRANT_LIFETIME_SECONDS`.',
  ),
  SIGNING_KEY_ROTATION_SECONDS: defaulted(
    integer(0, MAX_SECONDS),
    '0',
    'The time from one signing key to the next, with `SIGNING_KEY_STORE=postgres`. With 0, the operator rotates.',
  ),
  VAULT_ENCRYPTION_KEY: optional(
    vaultKey,
    'none',
    'The source of the keys that seal stored answers and webhook secrets, and that sign consent cookies. When it is unset, `RSA_PRIVATE_KEY` is the source.',
  ),
  VAULT_ENCRYPTION_KEYS_PREVIOUS: optional(
    vaultKeys,
    'none',
    'Former values of `VAULT_ENCRYPTION_KEY`. They still open the values that they sealed.',
  ),
};

const tokens = {
  MAX_GRANT_LIFETIME_SECONDS: defaulted(
    integer(60, MAX_SECONDS),
    '31536000',
    'The longest lifetime of a grant. The service refuses a longer `expiresIn` and does not cut it.',
  ),
  GRANT_TOKEN_MAX_TTL_SECONDS: defaulted(
    integer(60, 31_536_000),
    '86400',
    'The longest lifetime of one grant token. A grant that lives longer needs refreshes.',
  ),
};

const mail = {
  SMTP_URL: optional(
    smtpUrl,
    'no mail; outside production, mail is shown in the log and at `/development/mail`',
    'The server that takes the mail. In production, the service raises `smtp://` to TLS before it sends anything.',
  ),
  MAIL_FROM: optional(mailAddress, 'none', 'The sender of mail. Set it together with `SMTP_URL`.'),
};

const telemetry = {
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    httpUrl,
    'none: nothing is traced',
    'The OpenTelemetry collector that receives spans, as OTLP over HTTP, at `/v1/traces` below this URL.',
  ),
  OTEL_SERVICE_NAME: defaulted(textOf(1, 100), 'behest', 'The `service.name` of spans.'),
};

/** The settings that belong to no feature, as the operator's guide groups them. */
export const groups = { server, stores, keys, tokens, mail, telemetry };

/** The settings that belong to no feature. */
export const ownSettings = {
  ...server,
  ...stores,
  ...keys,
  ...tokens,
  ...mail,
  ...telemetry,
};

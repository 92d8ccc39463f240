import { baseUrl, hostAndPort, httpUrl, issuer, origins, redisUrl, trustProxy } from './addresses.ts';
import { databaseUrl } from './database.ts';
import { mailAddress, smtpUrl } from './mail.ts';
import { ecPrivateKey, ed25519PrivateKey, rsaPrivateKey } from './private-keys.ts';
import { anyText, boolean, integer, ipAddress, notInProduction, oneOf, onlyYet, textOf } from './readers.ts';
import { sharedSecret, vaultKey, vaultKeys } from './secrets.ts';
import { defaulted, optional, required } from './setting.ts';
import { jwkEntries } from './verification-keys.ts';

const MOST_SECONDS = 315_360_000; // ten years of 365 days

const server = {
  NODE_ENV: defaulted(
    oneOf('production', 'development', 'test'),
    'development',
    'With `production`, what is meant for development only is refused.',
  ),
  HOST: defaulted(ipAddress, '0.0.0.0', 'The address listened on.'),
  PORT: defaulted(integer(1, 65_535), '3001', 'The port listened on.'),
  PUBLIC_BASE_URL: optional(
    baseUrl,
    '`http://localhost:<PORT>`',
    'Where clients reach the service. In production `https`, unless the host is loopback.',
  ),
  DID_WEB_DOMAIN: optional(
    hostAndPort,
    'host and port of `PUBLIC_BASE_URL`',
    'The host in the DIDs of new agents. Those of existing ones stay.',
  ),
  TRUST_PROXY: defaulted(
    trustProxy,
    'false',
    'The proxies whose `X-Forwarded-For` is believed. With `false` the address of the socket counts.',
  ),
  CORS_ALLOWED_ORIGINS: optional(
    origins,
    'in production none, else `http://localhost:5173`',
    'Web pages whose scripts may call the API.',
  ),
  BODY_LIMIT_BYTES: defaulted(integer(1024, 104_857_600), '1048576', 'The largest request body.'),
  SHUTDOWN_TIMEOUT_SECONDS: defaulted(
    integer(1, 300),
    '25',
    'How long a stop waits for requests in flight before it ends the process with code 1.',
  ),
  LOG_LEVEL: defaulted(
    oneOf('debug', 'info', 'warn', 'error', 'fatal'),
    'info',
    'The least severe lines that are written.',
  ),
};

const stores = {
  DATABASE_URL: required(databaseUrl, 'Holds all lasting data. In production with TLS; see below.'),
  MIGRATION_DATABASE_URL: optional(
    databaseUrl,
    '`DATABASE_URL`',
    'A direct connection for migrations, where `DATABASE_URL` leads to a pooler.',
  ),
  DATABASE_POOL_MAX: defaulted(integer(1, 500), '10', 'The most connections of one process.'),
  REDIS_URL: required(
    redisUrl,
    'Holds rate-limit counters and authorization requests in flight. Outside production also `memory:`, which serves one process and forgets at its end.',
  ),
};

const keys = {
  RSA_PRIVATE_KEY: optional(
    rsaPrivateKey,
    'required unless `AUTO_GENERATE_KEYS=true`',
    'Signs tokens. At least 2048 bits.',
  ),
  EC_PRIVATE_KEY: optional(
    ecPrivateKey,
    'none',
    'Signs tokens with `JWT_SIGNING_ALG=ES256`, and is published before that.',
  ),
  ED25519_PRIVATE_KEY: optional(
    ed25519PrivateKey,
    'none',
    "Proves what the service says under its DID. Named in the service's DID document, and in no other; signs no token.",
  ),
  AUTO_GENERATE_KEYS: defaulted(
    notInProduction(boolean, (value) => value, 'AUTO_GENERATE_KEYS is for development only'),
    'false',
    'Makes the RSA key, the Ed25519 key and, for ES256, the EC key where they are missing. They end with the process, and with them every token. Refused in production.',
  ),
  JWT_SIGNING_ALG: defaulted(oneOf('RS256', 'ES256'), 'RS256', 'How new tokens are signed.'),
  JWT_ISSUER: optional(issuer, '`PUBLIC_BASE_URL`', 'The `iss` of every token, byte for byte.'),
  JWT_VERIFICATION_PUBLIC_KEYS: optional(
    jwkEntries,
    'none',
    'Public keys, RSA or P-256, that tokens also verify with: former and coming ones. They are published and never sign.',
  ),
  JWT_LEGACY_KID_KEY: optional(
    anyText('the key id or thumbprint of a configured RSA key'),
    'the key of `RSA_PRIVATE_KEY`',
    'The key that tokens without `kid`, or with one of the form `service-YYYY-MM`, verify with.',
  ),
  JWT_LEGACY_KID_MONTHS: defaulted(
    integer(1, 120),
    '13',
    'For how many months, the current one included, that key is published as `service-YYYY-MM`.',
  ),
  SIGNING_KEY_STORE: defaulted(
    onlyYet('env', 'the postgres store is not available yet'),
    'env',
    'Where signing keys are kept: in these variables.',
  ),
  SIGNING_KEY_ACTIVATION_DELAY_SECONDS: defaulted(
    integer(0, 86_400),
    '900',
    'How long after its start a process goes on signing as RS256 under `service-YYYY-MM`, while verifiers fetch the keys it has published.',
  ),
  SIGNING_KEY_RETIRED_GRACE_SECONDS: defaulted(
    integer(0, MOST_SECONDS),
    '34214400',
    'How long a key that signs no longer stays published. Without effect with `SIGNING_KEY_STORE=env`, where a key stays as long as it is named.',
  ),
  SSO_STATE_SECRET: optional(
    sharedSecret,
    'derived from the other keys',
    'For single sign-on, which is not there yet: checked at start, and without effect.',
  ),
  VAULT_ENCRYPTION_KEY: optional(
    vaultKey,
    'none',
    'Where the keys come from that seal stored answers and the secrets of webhooks, and that sign consent cookies. Unset, they come from `RSA_PRIVATE_KEY`.',
  ),
  VAULT_ENCRYPTION_KEYS_PREVIOUS: optional(
    vaultKeys,
    'none',
    'Former values of `VAULT_ENCRYPTION_KEY`: what they sealed still opens.',
  ),
};

const tokens = {
  MAX_GRANT_LIFETIME_SECONDS: defaulted(
    integer(60, MOST_SECONDS),
    '31536000',
    'The longest life of a grant. A longer `expiresIn` is refused, not cut.',
  ),
  GRANT_TOKEN_MAX_TTL_SECONDS: defaulted(
    integer(60, 31_536_000),
    '86400',
    'The longest life of one grant token. A grant that lives longer is refreshed.',
  ),
};

const mail = {
  SMTP_URL: optional(
    smtpUrl,
    'no mail; outside production, mail is shown in the log and at `/development/mail`',
    'The server that mail is handed to. In production, `smtp://` is raised to TLS before anything is sent.',
  ),
  MAIL_FROM: optional(mailAddress, 'none', 'The sender of mail. Set it together with `SMTP_URL`.'),
};

const telemetry = {
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    httpUrl,
    'none: nothing is traced',
    'The OpenTelemetry collector that spans are sent to, as OTLP over HTTP, at `/v1/traces` below it.',
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

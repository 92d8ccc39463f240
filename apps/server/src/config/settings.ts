import { baseUrl, hostAndPort, httpUrl, issuer, origins, redisUrl, trustProxy } from './addresses.ts';
import { databaseUrl } from './database.ts';
import { plans } from './limits.ts';
import { mailAddress, smtpUrl } from './mail.ts';
import { ecPrivateKey, ed25519PrivateKey, rsaPrivateKey } from './private-keys.ts';
import { anyText, boolean, integer, ipAddress, notInProduction, oneOf, onlyYet, textOf } from './readers.ts';
import { consentKey, metricsToken, seedKey, sharedSecret, vaultKey, vaultKeys } from './secrets.ts';
import { defaulted, optional, required } from './setting.ts';
import { jwkEntries } from './verification-keys.ts';

const MOST_SECONDS = 315_360_000; // ten years of 365 days
const SEEDS = 'SEED_API_KEY, SEED_SANDBOX_KEY and SEED_CONSENT_KEY must not be set in production';

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
  GRANT_TOKEN_LEGACY_CLAIMS: defaulted(
    boolean,
    'true',
    'Whether new grant tokens also carry the claim names used before 0.6.',
  ),
  MAX_DELEGATION_DEPTH: defaulted(
    integer(1, 10),
    '3',
    'How often a grant may be passed on from agent to agent, for developers that have not set it for themselves.',
  ),
  REUSE_GRACE_SECONDS: defaulted(
    integer(0, 300),
    '30',
    'How long a second use of a code or refresh token is no more than refused. Later, it also revokes the tokens that came of the first.',
  ),
};

const people = {
  SIGNUP_MODE: defaulted(oneOf('open', 'closed'), 'open', 'Whether anybody may sign up as a developer.'),
  DEFAULT_PLAN: defaulted(oneOf(...plans), 'free', 'The plan of developers without a subscription.'),
  PRINCIPAL_PROOF: optional(
    oneOf('required', 'optional'),
    'in production `required`, else `optional`',
    'Whether a live developer must have set up how principals prove who they are before asking them for consent.',
  ),
  SMTP_URL: optional(
    smtpUrl,
    'no mail; outside production, mail is shown in the log and at `/development/mail`',
    'The server that mail is handed to. In production, `smtp://` is raised to TLS before anything is sent.',
  ),
  MAIL_FROM: optional(mailAddress, 'none', 'Whom mail is from. Set together with `SMTP_URL`.'),
  DID_WEB_DOMAIN: optional(
    hostAndPort,
    'host and port of `PUBLIC_BASE_URL`',
    'The host in the DIDs of new agents. Those of existing ones stay.',
  ),
};

const webhooks = {
  WEBHOOK_MAX_ATTEMPTS: defaulted(
    integer(1, 10),
    '5',
    'How often a webhook is tried for one event, until the delivery counts as failed.',
  ),
  WEBHOOK_ALLOW_PRIVATE_HOSTS: defaulted(
    notInProduction(boolean, (value) => value, 'WEBHOOK_ALLOW_PRIVATE_HOSTS must not be true in production'),
    'false',
    'Whether webhooks may lead to this machine and to private networks. Refused in production.',
  ),
};

const seed = {
  SEED_API_KEY: optional(
    notInProduction(seedKey, () => true, SEEDS),
    'none',
    'Makes a live developer with this API key at start. Refused in production, as are the next two.',
  ),
  SEED_SANDBOX_KEY: optional(
    notInProduction(seedKey, () => true, SEEDS),
    'none',
    'Makes a sandbox developer with this API key at start.',
  ),
  SEED_CONSENT_KEY: optional(
    notInProduction(consentKey, () => true, SEEDS),
    'none',
    'The key whose hints the seeded live developer vouches with for principals. Without `SEED_API_KEY` it does nothing.',
  ),
};

const telemetry = {
  METRICS_TOKEN: optional(
    metricsToken,
    'none: `/metrics` answers this machine only, and in production nobody',
    'What `GET /metrics` has to be asked with: `Authorization: Bearer <METRICS_TOKEN>`.',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    httpUrl,
    'none: nothing is traced',
    'The OpenTelemetry collector that spans are sent to, as OTLP over HTTP, at `/v1/traces` below it.',
  ),
  OTEL_SERVICE_NAME: defaulted(textOf(1, 100), 'behest', 'The `service.name` of spans.'),
};

/** Every variable that the server reads, but for the limits, which are families. */
export const settings = {
  ...server,
  ...stores,
  ...keys,
  ...tokens,
  ...people,
  ...webhooks,
  ...seed,
  ...telemetry,
};

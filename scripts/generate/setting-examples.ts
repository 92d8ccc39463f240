import { isSecret } from '../../apps/server/src/config/setting.ts';

/** A setting as the page shows it: how its value looks, and what holds without one. */
export interface Described {
  readonly accepts: string;
  readonly fallback: string;
}

/** Examples of settings whose form says too little. A value that begins with `/` is the path of a file. */
const OF_NAMES: Readonly<Record<string, string>> = {
  NODE_ENV: 'production',
  HOST: '127.0.0.1',
  PORT: '8080',
  PUBLIC_BASE_URL: 'https://auth.example.com',
  DID_WEB_DOMAIN: 'auth.example.com',
  TRUST_PROXY: '1',
  LOG_LEVEL: 'warn',
  DATABASE_URL: 'postgres://behest:secret@db.example.com/behest?sslmode=verify-full',
  MIGRATION_DATABASE_URL: 'postgres://owner:secret@db.example.com/behest?sslmode=verify-full',
  JWT_ISSUER: 'https://auth.example.com',
  JWT_LEGACY_KID_KEY: 'service-rs256-NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
  SIGNING_KEY_STORE: 'postgres',
  SIGNING_KEY_ROTATION_SECONDS: '7776000',
  STRIPE_PRICE_PRO: 'price_1Pro',
  STRIPE_PRICE_ENTERPRISE: 'price_1Enterprise',
  STRIPE_API_URL: 'https://api.stripe.com',
  DNS_RESOLVERS: '10.0.0.53,[fd00::53]:5353',
  POLICY_BACKEND: 'opa',
  OPA_URL: 'http://127.0.0.1:8181',
  CEDAR_URL: 'http://127.0.0.1:8180',
  OPA_PATH: 'acme/authz',
  PRINCIPAL_PROOF: 'required',
  DEFAULT_PLAN: 'pro',
  CAPS_METER: 'redis',
  FIDO_RP_ID: 'auth.example.com',
  FIDO_RP_NAME: 'Acme',
  FIDO_ORIGIN: 'https://auth.example.com',
  OAUTH_CIMD_ALLOWED_HOSTS: 'agents.example.com,agents.example.org',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
  OTEL_SERVICE_NAME: 'behest-eu',
};

/** Examples by the form that a setting accepts. */
const OF_FORMS: Readonly<Record<string, string>> = {
  'a redis:// or rediss:// URL': 'rediss://default:secret@redis.example.com:6380',
  'an smtp:// or smtps:// URL': 'smtps://behest:secret@mail.example.com',
  'one e-mail address, with or without a display name': 'Behest <no-reply@example.com>',
  'a comma list of http(s) origins without path': 'https://app.example.com,https://admin.example.com',
  'a comma list of https origins without path; http only for localhost': 'https://auth.example.com',
  'a comma list of Ed25519 Multikeys (z6Mk…)': 'z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',
};

/**
 * An assignment that an operator could copy. Keys and other secrets are in files.
 *
 * @throws Error for a setting of a form that has no example
 */
export function exampleOf(name: string, { accepts, fallback }: Described): string {
  const shown = OF_NAMES[name] ?? OF_FORMS[accepts];
  if (shown !== undefined) return `${name}=${shown}`;
  if (isSecret(name)) return `${name}_FILE=/run/secrets/${name.toLowerCase().replaceAll('_', '-')}`;
  const value = otherValue(accepts, fallback.replaceAll('`', ''));
  if (value === undefined) throw new Error(`${name} has no example: scripts/generate/setting-examples.ts`);
  return `${name}=${value}`;
}

/** Another value than the default, so that the example changes something. */
function otherValue(accepts: string, fallback: string): string | undefined {
  if (accepts === 'true or false') return fallback === 'true' ? 'false' : 'true';
  const [, least, most] = /^an integer between (\d+) and (\d+)/.exec(accepts) ?? [];
  if (least !== undefined && most !== undefined)
    return numberOf(Number(least), Number(most), Number(fallback));
  const words = accepts.split(/, | or /);
  return words.every((word) => /^\w+$/.test(word)) ? words.findLast((word) => word !== fallback) : undefined;
}

function numberOf(least: number, most: number, fallback: number): string {
  const twice = 2 * fallback || Math.max(least, Math.min(most, 1000));
  return String(twice > most ? Math.max(least, Math.floor(fallback / 2)) : twice);
}

import {
  type Limits,
  quotaName,
  quotaSettings,
  rateName,
  rateSettings,
} from '../../apps/server/src/config/limits.ts';
import { isSecret } from '../../apps/server/src/config/setting.ts';
import { allowedBy, windowOf } from '../../apps/server/src/platform/http/limits/rate-rules.ts';
import { plans } from '../../apps/server/src/platform/quotas.ts';

interface Row {
  readonly accepts: string;
  readonly fallback: string;
  readonly meaning: string;
}

type SettingTable = Readonly<Record<string, Row>>;

const HEAD = '| Variable | Accepted | Default | Example | Meaning |\n|---|---|---|---|---|\n';
const TABLE = /<!-- settings: ([\w ]+) -->\n(?:(?!<!-- end -->)[\s\S])*<!-- end -->/g;
const SIZES = /(?<=<!-- sizes -->\n)[\s\S]*(?=<!-- end sizes -->)/;
const FEATURES = /(?<=<!-- features -->\n)[\s\S]*(?=<!-- end features -->)/;

/**
 * Writes the tables of settings into the operator's guide. The text around them is written by hand.
 * @param groups each between `<!-- settings: name -->` and `<!-- end -->`, as settings or as a written table
 * @param features each gets a heading and a table, between `<!-- features -->` and `<!-- end features -->`
 * @param sizes stands between `<!-- sizes -->` and `<!-- end sizes -->`
 * @throws Error for a group that the page lacks, or names in vain
 */
export function configurationPage(
  page: string,
  groups: Readonly<Record<string, SettingTable | string>>,
  features: Readonly<Record<string, SettingTable>>,
  sizes = '',
): string {
  const shown = new Set<string>();
  const written = page.replaceAll(TABLE, (_, name: string) => {
    const table = groups[name];
    if (!table) throw new Error(`docs/configuration.md asks for the settings of ${name}, which has none.`);
    shown.add(name);
    return `<!-- settings: ${name} -->\n${typeof table === 'string' ? table : tableOf(table)}<!-- end -->`;
  });
  const missing = Object.keys(groups).filter((name) => !shown.has(name));
  if (missing.length > 0)
    throw new Error(`docs/configuration.md shows no settings of ${missing.join(', ')}.`);
  const sections = Object.entries(features)
    .filter(([, table]) => Object.keys(table).length > 0)
    .map(([name, table]) => `\n### ${name[0]?.toUpperCase()}${name.slice(1)}\n\n${tableOf(table)}`);
  return written.replace(SIZES, `${sizes}\n`).replace(FEATURES, `${sections.join('')}\n`);
}

/** One row for the pattern of the names, and a table of the rules that stand in it. */
export function rateTable(limits: Limits): string {
  const settings = rateSettings(limits);
  const rows = limits.rates.map((rule) => {
    const ending = rateName(rule.name).replace('RATE_LIMIT_', '');
    return `| \`${ending}\` | ${allowedBy(rule)} | ${windowOf(rule)} | ${rule.describes} |\n`;
  });
  const pattern = patternRow('RATE_LIMIT_<RULE>', settings, 'The requests that a rule allows in its window.');
  return `${pattern}\n| Rule | Default | A | What it counts, and by whom |\n|---|---:|---|---|\n${rows.join('')}`;
}

/** As `rateTable`, for the quotas of the plans. */
export function quotaTable(limits: Limits): string {
  const settings = quotaSettings(limits);
  const rows = Object.entries(limits.quotas).map(([resource, quota]) => {
    const ending = quotaName('free', resource).replace('PLAN_FREE_', '');
    return `| \`${ending}\` | ${plans.map((plan) => quota[plan]).join(' | ')} | ${quota.describes} |\n`;
  });
  const pattern = patternRow(
    'PLAN_<PLAN>_<QUOTA>',
    settings,
    'What a plan, `FREE`, `PRO` or `ENTERPRISE`, has of it.',
  );
  return `${pattern}\n| Quota | Free | Pro | Enterprise | What it counts |\n|---|---:|---:|---:|---|\n${rows.join('')}`;
}

function patternRow(pattern: string, settings: SettingTable, meaning: string): string {
  const [name, row] = Object.entries(settings)[0] ?? [];
  if (name === undefined || row === undefined) throw new Error(`There is no setting ${pattern}.`);
  return `${HEAD}| \`${pattern}\` | ${row.accepts} | see below | \`${exampleOf(name, row)}\` | ${meaning} |\n`;
}

function tableOf(table: SettingTable): string {
  const rows = Object.entries(table).map(
    ([variable, row]) =>
      `| \`${variable}\` | ${row.accepts} | ${row.fallback} | \`${exampleOf(variable, row)}\` | ${row.meaning} |\n`,
  );
  return `${HEAD}${rows.join('')}`;
}

/** A setting as the page shows it: how its value looks, and what holds without one. */
interface Described {
  readonly accepts: string;
  readonly fallback: string;
}

/** Examples of settings whose form says too little. A value that begins with `/` is the path of a file. */
const OF_NAMES: Readonly<Record<string, string>> = {
  TRANSPARENCY_WITNESSES:
    'witness.example.com/w1+a3b1e360+BMhAafoiFsbtwdUsqDqhHCZ91UQK+lJgkMpD69DKhqnP https://witness.example.com',
  NODE_ENV: 'production',
  HOST: '127.0.0.1',
  PORT: '8080',
  PROCESSES: 'auto',
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

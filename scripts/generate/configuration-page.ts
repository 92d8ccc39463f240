import {
  type Limits,
  quotaName,
  quotaSettings,
  rateName,
  rateSettings,
} from '../../apps/server/src/config/limits.ts';
import { allowedBy, windowOf } from '../../apps/server/src/platform/http/limits/rate-rules.ts';
import { plans } from '../../apps/server/src/platform/quotas.ts';
import { exampleOf } from './setting-examples.ts';

interface Row {
  readonly accepts: string;
  readonly fallback: string;
  readonly meaning: string;
}

export type SettingTable = Readonly<Record<string, Row>>;

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

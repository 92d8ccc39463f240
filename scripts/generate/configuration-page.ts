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
 * @param groups each stands between `<!-- settings: name -->` and `<!-- end -->`
 * @param features each gets a heading and a table, between `<!-- features -->` and `<!-- end features -->`
 * @param sizes stands between `<!-- sizes -->` and `<!-- end sizes -->`
 * @throws Error for a group that the page lacks, or names in vain
 */
export function configurationPage(
  page: string,
  groups: Readonly<Record<string, SettingTable>>,
  features: Readonly<Record<string, SettingTable>>,
  sizes = '',
): string {
  const shown = new Set<string>();
  const written = page.replaceAll(TABLE, (_, name: string) => {
    const table = groups[name];
    if (!table) throw new Error(`docs/configuration.md asks for the settings of ${name}, which has none.`);
    shown.add(name);
    return `<!-- settings: ${name} -->\n${tableOf(table)}<!-- end -->`;
  });
  const missing = Object.keys(groups).filter((name) => !shown.has(name));
  if (missing.length > 0)
    throw new Error(`docs/configuration.md shows no settings of ${missing.join(', ')}.`);
  const sections = Object.entries(features)
    .filter(([, table]) => Object.keys(table).length > 0)
    .map(([name, table]) => `\n### ${name[0]?.toUpperCase()}${name.slice(1)}\n\n${tableOf(table)}`);
  return written.replace(SIZES, `${sizes}\n`).replace(FEATURES, `${sections.join('')}\n`);
}

function tableOf(table: SettingTable): string {
  const rows = Object.entries(table).map(
    ([variable, row]) =>
      `| \`${variable}\` | ${row.accepts} | ${row.fallback} | \`${exampleOf(variable, row)}\` | ${row.meaning} |\n`,
  );
  return `${HEAD}${rows.join('')}`;
}

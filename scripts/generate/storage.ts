import { features, limits } from '../../apps/server/src/features.ts';
import type { Plan } from '../../apps/server/src/platform/caller.ts';
import { tables as journals } from '../../apps/server/src/platform/db/db.tables.ts';
import type { Bound, TableUse } from '../../apps/server/src/platform/db/tables.ts';
import { tables as answers } from '../../apps/server/src/platform/http/idempotency/idempotency.tables.ts';
import { plans } from '../../apps/server/src/platform/quotas.ts';

const declared: readonly (TableUse | undefined)[] = [
  journals,
  answers,
  ...features.map(({ tables }) => tables),
];

/** What each table says that bounds it. */
export const bounds: ReadonlyMap<string, Bound> = new Map(
  declared.flatMap((use) => Object.entries(use?.owns ?? {})),
);

const MARKED = /(?<=<!-- storage -->\n)[\s\S]*(?=<!-- end storage -->)/;

/** Writes the tables of rows and bytes into the operator's guide. */
export function storagePage(page: string): string {
  const standing = [...bounds.keys()].filter((name) => rowsOf(name, 'free') !== undefined).sort();
  const entering = [...bounds.keys()].filter((name) => growthOf(name) !== undefined).sort();
  const total = standing.reduce((sum, name) => sum + kibOf(name), 0);
  const lines = [
    '| Table | Bounded by | Rows, free | Rows, pro | Rows, enterprise | KiB a row, at most | MiB, free |',
    '|---|---|---:|---:|---:|---:|---:|',
    ...standing.map(
      (name) =>
        `| ${[`\`${name}\``, causeOf(name), ...plans.map((plan) => figure(rowsOf(name, plan))), sizeOf(name), mib(kibOf(name))].join(' | ')} |`,
    ),
    `| all | | | | | | ${mib(total)} |`,
    '',
    '| Table | Rows come in by | Rows stay | KiB a row, at most |',
    '|---|---|---|---:|',
    ...entering.map((name) => `| \`${name}\` | ${growthOf(name)} | ${stayOf(name)} | ${sizeOf(name)} |`),
  ];
  return page.replace(MARKED, `${lines.join('\n')}\n`);
}

/**
 * The most rows of one account that a table holds.
 * @returns undefined where they grow with time, and for tables of the operator
 * @throws Error for a quota or a table that there is not
 */
export function rowsOf(name: string, plan: Plan): number | undefined {
  const bound = boundOf(name);
  if (bound === 'operator' || 'rate' in bound) return undefined;
  if ('most' in bound) return bound.most;
  if ('quota' in bound) {
    const included = quotaOf(bound.quota, plan);
    return bound.every ? undefined : included;
  }
  const { of, each = 1 } = bound;
  const rows = rowsOf(of, plan);
  return rows === undefined ? undefined : rows * (typeof each === 'number' ? each : quotaOf(each, plan));
}

/** How rows come into a table that grows with time. @throws Error for a request limit that there is not */
export function growthOf(name: string): string | undefined {
  const bound = boundOf(name);
  if (bound === 'operator' || rowsOf(name, 'free') !== undefined) return undefined;
  if ('rate' in bound) return rateOf(bound.rate);
  if ('quota' in bound) return `the quota \`${bound.quota}\`, every month`;
  return 'of' in bound ? `each row of \`${bound.of}\`` : undefined;
}

function boundOf(name: string): Bound {
  const bound = bounds.get(name);
  if (!bound) throw new Error(`No noun says what bounds the table ${name}.`);
  return bound;
}

function quotaOf(name: string, plan: Plan): number {
  const included = limits.quotas[name]?.[plan];
  if (included === undefined) throw new Error(`There is no quota ${name}.`);
  return included === 'unlimited' ? Infinity : included;
}

function rateOf(name: string): string {
  if (name === 'plan') return 'the request limit of the plan';
  if (!limits.rates.some((rule) => rule.name === name)) throw new Error(`There is no request limit ${name}.`);
  return `the request limit \`${name}\``;
}

function causeOf(name: string): string {
  const bound = boundOf(name);
  if (bound === 'operator' || 'rate' in bound) return '';
  if ('quota' in bound) return `the quota \`${bound.quota}\``;
  if ('most' in bound) return 'a fixed number';
  const { of, each = 1 } = bound;
  return `${typeof each === 'number' ? each : `the quota \`${each}\``} for each of \`${of}\``;
}

function stayOf(name: string): string {
  const bound = boundOf(name);
  if (bound !== 'operator' && 'of' in bound) return 'as long as that row';
  return (bound !== 'operator' && 'rate' in bound && bound.kept) || 'with the account';
}

function sizeOf(name: string): number {
  const bound = boundOf(name);
  return bound === 'operator' ? 0 : (bound.kib ?? 1);
}

const kibOf = (name: string) => (rowsOf(name, 'free') ?? 0) * sizeOf(name);
const mib = (kib: number) => (kib < 1024 ? '< 1' : Math.ceil(kib / 1024).toLocaleString('en'));
const figure = (rows = 0) => (rows === Infinity ? 'unlimited' : rows.toLocaleString('en'));

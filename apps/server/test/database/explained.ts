import { sql } from 'kysely';
import type pg from 'pg';
import { onTestFinished } from 'vitest';
import { databaseOver, openPool } from '../../src/platform/db/open-database.ts';

/** A node of a plan that was run, as `explain (analyze, format json)` writes it. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** A statement that Postgres has run, by itself, inside a function or for a foreign key. */
export interface Explained {
  readonly text: string;
  /** The rows that its scans looked at, whether they were of use or not. */
  readonly rows: number;
  /** Each scan with its table, index and rows. */
  readonly scans: readonly string[];
}

const MAX_KEPT = 10_000; // a plan that calls a function for each row makes as many messages

const SETTINGS = {
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_nested_statements': 'on',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_format': 'json',
  'auto_explain.log_level': 'notice',
  statement_timeout: '10s',
};

/** A database of one session, in which Postgres says how it has run each statement, until the test is over. */
export function openExplained(
  databaseUrl: string,
  planCacheMode: 'force_generic_plan' | 'force_custom_plan',
) {
  const pool = openPool({ connectionString: databaseUrl }, 1, { silence: 60_000 });
  const seen: Explained[] = [];
  pool.on('connect', (client: pg.PoolClient) => {
    client.on('notice', ({ message = '' }) => {
      if (seen.length < MAX_KEPT && message.startsWith('duration: ')) seen.push(explainedIn(message));
    });
  });
  const db = databaseOver(pool);
  onTestFinished(() => db.destroy());
  /** Begins to listen. The connection is the pool's only one. */
  const listen = async () => {
    await sql`load 'auto_explain'`.execute(db);
    for (const [name, value] of Object.entries({ ...SETTINGS, plan_cache_mode: planCacheMode })) {
      await sql`select set_config(${name}, ${value}, false)`.execute(db);
    }
  };
  return { db, listen, take: () => seen.splice(0) };
}

function explainedIn(message: string): Explained {
  const { 'Query Text': text, Plan: plan }: { 'Query Text': string; Plan: PlanNode } = JSON.parse(
    message.slice(message.indexOf('{')),
  );
  const scans = scansIn(plan);
  return {
    text: text.replace(/\s+/g, ' ').trim(),
    rows: scans.reduce((sum, scan) => sum + rowsOf(scan), 0),
    scans: scans.map(
      (scan) => `${scan['Relation Name']}.${scan['Index Name'] ?? scan['Node Type']} ${rowsOf(scan)}`,
    ),
  };
}

const scansIn = (node: PlanNode): PlanNode[] => [
  ...(node['Relation Name'] !== undefined && node['Node Type'] !== 'ModifyTable' ? [node] : []),
  ...(node.Plans ?? []).flatMap(scansIn),
];

const rowsOf = (scan: PlanNode): number =>
  Math.round(
    (scan['Actual Rows'] +
      (scan['Rows Removed by Filter'] ?? 0) +
      (scan['Rows Removed by Index Recheck'] ?? 0)) *
      scan['Actual Loops'],
  );

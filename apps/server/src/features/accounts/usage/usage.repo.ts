import { sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import { lookUp, statement } from '../../../platform/db/statement.ts';
import type { Counts } from './usage.rules.ts';

/** The counts of a developer on a day. */
export interface DayCounts extends Counts {
  readonly developerId: string;
  readonly day: string;
}

const adding = statement<never, [counts: string]>(
  'add_usage',
  `insert into usage_daily as known (developer_id, day, token_exchanges, authorizations, verifications,
     proxy_calls)
   select "developerId", day, "tokenExchanges", authorizations, verifications, "proxyCalls"
   from jsonb_to_recordset($1::jsonb) as counted ("developerId" text, day date, "tokenExchanges" bigint,
     authorizations bigint, verifications bigint, "proxyCalls" bigint) order by "developerId", day
   on conflict (developer_id, day) do update set
     token_exchanges = known.token_exchanges + excluded.token_exchanges,
     authorizations = known.authorizations + excluded.authorizations,
     verifications = known.verifications + excluded.verifications,
     proxy_calls = known.proxy_calls + excluded.proxy_calls`,
);

/** Adds to the days of many developers, in the order of their ids, so that two processes do not wait in a circle. */
export async function addUsageAcrossTenants(db: Executor, counts: readonly DayCounts[]): Promise<void> {
  await adding(db, JSON.stringify(counts));
}

interface DayRow {
  readonly day: string;
  readonly tokenExchanges: string;
  readonly authorizations: string;
  readonly verifications: string;
  readonly proxyCalls: string;
}

const days = lookUp<DayRow, [developerId: string, since: string, until: string]>(
  'find_usage',
  `select day::text, token_exchanges as "tokenExchanges", authorizations, verifications,
     proxy_calls as "proxyCalls"
   from usage_daily where developer_id = $1 and day between $2::date and $3::date order by day desc`,
);

/** Newest first. */
export async function listDays(
  db: Executor,
  { developerId }: Tenant,
  { since, until }: { readonly since: string; readonly until: string },
): Promise<(Counts & { readonly day: string })[]> {
  const rows = await days(db, developerId, since, until);
  return rows.map(({ day, ...counts }) => ({
    day,
    tokenExchanges: Number(counts.tokenExchanges),
    authorizations: Number(counts.authorizations),
    verifications: Number(counts.verifications),
    proxyCalls: Number(counts.proxyCalls),
  }));
}

/** @returns how many rows it deleted */
export async function deleteUsageBeforeAcrossTenants(tx: Tx, day: string, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from usage_daily where (developer_id, day) in
      (select developer_id, day from usage_daily where day < ${day} limit ${limit})`.execute(tx);
  return Number(numAffectedRows);
}

/** Erases rows of a closed account. */
export const eraseUsage = eraserOf('usage_daily');

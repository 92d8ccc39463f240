import { sql } from 'kysely';
import type { Executor } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import type { DeveloperListQuery } from './admin.schema.ts';

/** Newest first, closed accounts too. The operator belongs to no tenant. */
export function listDevelopersAcrossTenants(db: Executor, { cursor, limit }: DeveloperListQuery) {
  const all = db.selectFrom('developers').select(['id', 'name', 'email', 'mode', 'createdAt']);
  const page = cursor ? all.where('id', '<', cursor) : all;
  return readPage(db, page.orderBy('id', 'desc'), limit);
}

/** Counts of accounts that are not closed. */
export async function countDevelopersAcrossTenants(db: Executor, now: Date) {
  const since = (days: number) => {
    const from = new Date(now.getTime() - days * 86_400_000);
    return sql<string>`count(*) filter (where created_at > ${from})`;
  };
  const counted = await db
    .selectFrom('developers')
    .where('closedAt', 'is', null)
    .select(({ fn }) => fn.countAll<string>().as('all'))
    .select([since(1).as('day'), since(7).as('week'), since(30).as('month')])
    .select(sql<string>`count(*) filter (where mode = 'sandbox')`.as('sandbox'))
    .executeTakeFirstOrThrow();
  const { all, day, week, month, sandbox } = counted;
  return {
    ...{ all: Number(all), day: Number(day), week: Number(week), month: Number(month) },
    sandbox: Number(sandbox),
  };
}

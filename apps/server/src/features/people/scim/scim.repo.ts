import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import { boundAs, conditionOf, orderOf, type Source } from './filter.repo.ts';
import type { Position, Search } from './search.rules.ts';

/** Lets other changes of the developer's people and groups wait for the end of this transaction. */
export async function lockPeople(tx: Tx, { developerId }: Tenant): Promise<void> {
  await sql`select lock_directory(${developerId})`.execute(tx);
}

/** How a search becomes the parts of a statement over a table. */
export interface SearchParts {
  readonly condition: RawBuilder<SqlBool>;
  /** The value of each row by which the list is sorted, as text. */
  readonly value: RawBuilder<string | null>;
  /** Rows after the position of the cursor. */
  readonly after: RawBuilder<SqlBool>;
  /** Puts the rows of a statement in the order of the list. */
  readonly inOrder: <Row>(select: RawBuilder<Row>) => RawBuilder<Row>;
}

/** Whether a page has every resource that passes, so that nobody has to count them. */
export const isWhole = ({ count, startIndex = 1, after }: Search, found: number): boolean =>
  count > 0 && startIndex === 1 && after === undefined && found <= count;

/** @param id the column of the ids, which are in the order of creation */
export const partsOfSearch = (
  { filter, order, after }: Search,
  source: Source,
  id: RawBuilder<string>,
): SearchParts => {
  const condition = filter ? conditionOf(filter, source) : sql<SqlBool>`true`;
  if (!order) {
    const isAfter = after ? sql<SqlBool>`${id} > ${after.id}` : sql<SqlBool>`true`;
    const inOrder: SearchParts['inOrder'] = (select) => sql`${select} order by ${id}`;
    return { condition, value: sql`null::text`, after: isAfter, inOrder };
  }
  const by = orderOf(source, order.path, order.attribute);
  const isAfter = after ? isBehind(by, order, id, after) : sql<SqlBool>`true`;
  // Without a value a resource is last, or first when descending (RFC 7644 §3.4.2.3), as Postgres has it.
  const inOrder: SearchParts['inOrder'] = (select) =>
    order.isDescending ? sql`${select} order by ${by} desc, ${id}` : sql`${select} order by ${by}, ${id}`;
  return { condition, value: sql`(${by})::text`, after: isAfter, inOrder };
};

function isBehind(
  by: RawBuilder<unknown>,
  { attribute, isDescending }: NonNullable<Search['order']>,
  id: RawBuilder<string>,
  { id: lastId, value }: Position,
): RawBuilder<SqlBool> {
  const isNext = sql<SqlBool>`${id} > ${lastId}`;
  if (value === null) {
    return isDescending ? sql`(${by} is not null or ${isNext})` : sql`(${by} is null and ${isNext})`;
  }
  const last = boundAs(attribute.type, value);
  return isDescending
    ? sql`(${by} < ${last} or (${by} = ${last} and ${isNext}))`
    : sql`(${by} > ${last} or ${by} is null or (${by} = ${last} and ${isNext}))`;
}

/** Erases rows of a closed account. */
export const eraseDirectory = eraserOf(
  'closed_principals',
  'scim_members',
  'scim_groups',
  'scim_principals',
  'scim_user_emails',
  'scim_users',
  'scim_token_index',
  'scim_tokens',
);

/** The texts among these principal ids for which a user stands. */
export async function principalsOfUser(
  db: Executor,
  { developerId }: Tenant,
  userId: string,
  candidates: readonly string[],
): Promise<string[]> {
  const asked = sql<{ id: string }>`
    select distinct c.id from unnest(${[...candidates]}::text[]) as c (id)
    where principal_user(${developerId}, c.id) = ${userId} order by c.id`;
  return (await asked.execute(db)).rows.map(({ id }) => id);
}

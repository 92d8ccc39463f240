import type { Insertable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import type { Subscriptions } from '../../../platform/db/types.gen.ts';
import { developersAcrossTenants } from '../../accounts/developers/developers.queries.ts';

export async function findCustomer(db: Executor, { developerId }: Tenant): Promise<string | undefined> {
  const found = await db
    .selectFrom('billingCustomers')
    .select('customerId')
    .where('developerId', '=', developerId)
    .executeTakeFirst();
  return found?.customerId;
}

/** Two calls at once store one: the provider has given both the same customer. */
export async function insertCustomer(tx: Tx, { developerId }: Tenant, customerId: string): Promise<void> {
  await tx
    .insertInto('billingCustomers')
    .values({ customerId, developerId })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** It takes no tenant by design: the provider names its customer. */
export function findPayerAcrossTenants(db: Executor, customerId: string) {
  return db
    .selectFrom('billingCustomers as customer')
    .innerJoin(developersAcrossTenants(db), 'developer.developerId', 'customer.developerId')
    .select(['customer.developerId', 'developer.mode', 'developer.plan'])
    .where('customer.customerId', '=', customerId)
    .executeTakeFirst();
}

/** @returns whether the event is new */
export async function insertEvent(tx: Tx, { developerId }: Tenant, eventId: string, at: Date) {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('billingEvents')
    .values({ developerId, eventId, createdAt: at })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

export function findSubscription(db: Executor, { developerId }: Tenant) {
  return db.selectFrom('subscriptions').selectAll().where('developerId', '=', developerId).executeTakeFirst();
}

type NewSubscription = Omit<Insertable<Subscriptions>, 'developerId' | 'version'>;

export async function putSubscription(tx: Tx, { developerId }: Tenant, row: NewSubscription): Promise<void> {
  await tx
    .insertInto('subscriptions')
    .values({ ...row, developerId })
    .onConflict((conflict) =>
      conflict
        .column('developerId')
        .doUpdateSet(({ eb, ref }) => ({ ...row, version: eb(ref('subscriptions.version'), '+', 1) })),
    )
    .execute();
}

/** Subscriptions whose grace has ended, and whose plan still counts. */
export function listGraceOverAcrossTenants(db: Executor, at: Date, limit: number) {
  return db
    .selectFrom('subscriptions as own')
    .innerJoin(developersAcrossTenants(db), 'developer.developerId', 'own.developerId')
    .select(['own.developerId', 'developer.mode', 'developer.plan'])
    .where('own.effectivePlan', '<>', 'free')
    .where('own.graceEndsAt', '<=', at)
    .orderBy('own.graceEndsAt')
    .limit(limit)
    .execute();
}

/** Erases rows of a closed account. */
export const eraseBilling = eraserOf('billing_events', 'subscriptions', 'billing_customers');

import type { Developer, Service } from './start-app.ts';

/** Lets everything that a developer has in a table expire at this instant, without a step of the clock. */
export async function endNow(
  { db, clock }: Service,
  table: 'authRequests' | 'grants',
  { developerId }: Developer,
): Promise<void> {
  await db.updateTable(table).set({ expiresAt: clock() }).where('developerId', '=', developerId).execute();
}

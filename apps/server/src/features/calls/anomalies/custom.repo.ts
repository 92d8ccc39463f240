import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import type { AnomalyRules } from '../../../platform/db/types.gen.ts';

export type RuleRow = Selectable<AnomalyRules>;

/** The developer's own rules and changes of built-in ones, oldest first. */
export function listRuleRows(db: Executor, { developerId }: Tenant): Promise<RuleRow[]> {
  return db
    .selectFrom('anomalyRules')
    .selectAll()
    .where('developerId', '=', developerId)
    .orderBy('createdAt')
    .orderBy('ruleId')
    .execute();
}

export async function upsertRule(
  tx: Tx,
  { developerId }: Tenant,
  rule: Omit<Insertable<AnomalyRules>, 'developerId'>,
  change: Updateable<AnomalyRules>,
): Promise<RuleRow> {
  return tx
    .insertInto('anomalyRules')
    .values({ ...rule, developerId })
    .onConflict((conflict) => conflict.columns(['developerId', 'ruleId']).doUpdateSet(change))
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deleteRule(tx: Tx, { developerId }: Tenant, ruleId: string): Promise<void> {
  await tx
    .deleteFrom('anomalyRules')
    .where('developerId', '=', developerId)
    .where('ruleId', '=', ruleId)
    .execute();
}

/** Forgets what was counted by a rule. */
export async function deleteCounts(tx: Tx, { developerId }: Tenant, measure: string): Promise<void> {
  await tx
    .deleteFrom('anomalyCounts')
    .where('developerId', '=', developerId)
    .where('measure', '=', measure)
    .execute();
}

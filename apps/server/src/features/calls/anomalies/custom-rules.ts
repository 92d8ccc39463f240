import type { Caller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { recordEntry } from '../../record/audit/index.ts';
import type { AnomalyDeps } from './alerts.ts';
import {
  deleteCounts,
  deleteRule,
  EACH_ROUND,
  ensureState,
  listRuleRows,
  lockState,
  type RuleRow,
  updateState,
  upsertRule,
} from './anomalies.repo.ts';
import { builtInsWith, isBuiltIn, ownRules } from './anomalies.rules.ts';
import type { AnomalyRule, AnomalyRuleChange, AnomalyRuleList, NewAnomalyRule } from './anomalies.schema.ts';
import { mustBeChannels } from './channels.ts';
import { beforeAllWindows } from './count.ts';

const MAX_RULES = 100;

/** Built-in rules come first. */
export async function listRules({ db }: AnomalyDeps, { tenant }: Caller): Promise<AnomalyRuleList> {
  return { rules: shownOf(await listRuleRows(db, tenant)) };
}

function shownOf(rows: readonly RuleRow[]): AnomalyRule[] {
  return [
    ...builtInsWith(rows).map((rule) => ({ ...rule, builtIn: true })),
    ...ownRules(rows).map(({ channels, ...rule }) => ({
      ...rule,
      builtIn: false,
      alertChannels: [...channels],
      createdAt: createdAtOf(rows, rule.id),
    })),
  ];
}

const createdAtOf = (rows: readonly RuleRow[], id: string) =>
  (rows.find((row) => row.id === id)?.createdAt ?? new Date(0)).toISOString();

/** @throws BAD_REQUEST, CONFLICT for a `ruleId` that the developer or the service has, or at 100 rules */
export function createRule(deps: AnomalyDeps, caller: Caller, input: NewAnomalyRule): Promise<AnomalyRule> {
  const { ruleId, alertChannels = [], condition, ...plain } = input;
  if (isBuiltIn(ruleId)) throw badField('ruleId', 'not_allowed', 'A built-in rule has this id.');
  const at = deps.clock();
  const rule = { ...plain, ruleId, id: newId('arule', at), enabled: true, createdAt: at };

  return writing(deps, caller, at, async (tx, rows) => {
    if (rows.some((row) => row.ruleId === ruleId)) {
      throw new AppError('CONFLICT', 'A rule has this id.', { field: 'ruleId' });
    }
    if (rows.filter(({ id }) => id !== null).length >= MAX_RULES) {
      throw new AppError('CONFLICT', 'A developer has at most 100 rules. Delete one.', { limit: MAX_RULES });
    }
    await mustBeChannels(tx, caller.tenant, alertChannels);
    const columns = { ...rule, condition: JSON.stringify(condition), channels: alertChannels };
    await upsertRule(tx, caller.tenant, columns, columns);
    return { ruleId, changed: ['created'] };
  });
}

/**
 * Changes a rule; changes of a built-in rule hold for this developer.
 * @throws NOT_FOUND, BAD_REQUEST for a member that a built-in rule does not let be changed
 */
export function changeRule(
  deps: AnomalyDeps,
  caller: Caller,
  named: string,
  change: AnomalyRuleChange,
): Promise<AnomalyRule> {
  const at = deps.clock();
  const { condition, alertChannels, ...plain } = change;

  return writing(deps, caller, at, async (tx, rows) => {
    const { tenant } = caller;
    const row = rows.find(({ id, ruleId }) => id === named || (id !== null && ruleId === named));
    const changed = Object.keys(change);
    if (!row) {
      if (!isBuiltIn(named)) throw notFound();
      const fixed = changed.find((field) => !['enabled', 'severity', 'response'].includes(field));
      if (fixed) throw badField(fixed, 'not_allowed', 'Built-in rules keep this member.');
      await upsertRule(tx, tenant, { ...plain, ruleId: named, createdAt: at }, plain);
      return { ruleId: named, changed };
    }
    if (alertChannels) await mustBeChannels(tx, tenant, alertChannels);
    const isCounted = row.isCounted && condition === undefined && plain.enabled === undefined;
    const columns = {
      ...plain,
      ...(condition && { condition: JSON.stringify(condition) }),
      ...(alertChannels && { channels: alertChannels }),
      isCounted,
    };
    await upsertRule(tx, tenant, row, columns);
    return { ruleId: row.ruleId, changed };
  });
}

/** @throws NOT_FOUND, CONFLICT for a built-in rule */
export async function removeRule(deps: AnomalyDeps, caller: Caller, named: string): Promise<void> {
  if (isBuiltIn(named)) throw new AppError('CONFLICT', 'A built-in rule cannot be deleted. Disable it.');
  const at = deps.clock();
  const { tenant } = caller;
  await ensureState(deps.db, tenant, beforeAllWindows(at));
  await inTransaction(deps.db, async (tx) => {
    await lockState(tx, tenant);
    const rows = await listRuleRows(tx, tenant);
    const row = rows.find(({ id, ruleId }) => id !== null && (id === named || ruleId === named));
    if (!row?.id) throw notFound();
    await deleteRule(tx, tenant, row.ruleId);
    await deleteCounts(tx, tenant, row.id);
    const data = { ruleId: row.ruleId, changed: ['deleted'] };
    await recordEntry(tx, caller, { action: 'anomaly.rule_changed', data }, at);
  });
}

type Write = (
  tx: Parameters<typeof lockState>[0],
  rows: readonly RuleRow[],
) => Promise<{ readonly ruleId: string; readonly changed: readonly string[] }>;

/** Detection reads the rules under the same lock, so a count and its condition never part. */
async function writing(deps: AnomalyDeps, caller: Caller, at: Date, write: Write): Promise<AnomalyRule> {
  const { tenant } = caller;
  await ensureState(deps.db, tenant, beforeAllWindows(at));
  return inTransaction(deps.db, async (tx) => {
    await lockState(tx, tenant);
    const data = await write(tx, await listRuleRows(tx, tenant));
    await updateState(tx, tenant, { dueAt: EACH_ROUND });
    const shown = shownOf(await listRuleRows(tx, tenant)).find(({ ruleId }) => ruleId === data.ruleId);
    await recordEntry(tx, caller, { action: 'anomaly.rule_changed', data }, at);
    if (!shown) throw new Error('A written rule is not listed.');
    return shown;
  });
}

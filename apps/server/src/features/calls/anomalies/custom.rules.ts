import type { Rule } from './anomalies.rules.ts';
import type { Condition } from './anomalies.schema.ts';
import { builtIns, type Measure } from './builtin.rules.ts';

/** A row of a rule: a developer's own, or what it changed of a built-in one. */
export interface StoredRule {
  readonly ruleId: string;
  readonly id: string | null;
  readonly name: string | null;
  readonly description: string | null;
  readonly severity: Rule['severity'] | null;
  readonly response: Rule['response'] | null;
  readonly enabled: boolean | null;
  readonly condition: unknown;
  readonly channels: readonly string[];
}

export interface OwnRule extends Rule {
  readonly id: string;
  readonly condition: Condition;
  readonly channels: readonly string[];
}

/** The column holds what the schema of a new rule let in. */
const conditionOf = ({ condition }: StoredRule) => condition as Condition;

export const isCounting = <Row extends StoredRule>(row: Row): boolean =>
  row.id !== null && row.enabled !== false;

/** The count of a developer's own rule, under the rule's id, which no built-in measure has. */
export function measureOf(row: StoredRule): Measure {
  const { timeWindow, threshold: _, ...filter } = conditionOf(row);
  return { ...filter, measure: row.id ?? row.ruleId, window: timeWindow };
}

/** The built-in rules with the developer's changes. */
export function builtInsWith(rows: readonly StoredRule[]): Rule[] {
  return builtIns.map((rule) => {
    const row = rows.find(({ id, ruleId }) => id === null && ruleId === rule.ruleId);
    return {
      ...rule,
      severity: row?.severity ?? rule.severity,
      enabled: row?.enabled ?? true,
      response: row?.response ?? 'none',
    };
  });
}

export const ownRules = (rows: readonly StoredRule[]): OwnRule[] =>
  rows.flatMap((row) => (row.id === null ? [] : [ownRule(row, row.id)]));

const ownRule = (row: StoredRule, id: string): OwnRule => ({
  id,
  ruleId: row.ruleId,
  name: row.name ?? row.ruleId,
  description: row.description ?? '',
  severity: row.severity ?? 'medium',
  response: row.response ?? 'none',
  enabled: row.enabled ?? true,
  condition: conditionOf(row),
  channels: row.channels,
});

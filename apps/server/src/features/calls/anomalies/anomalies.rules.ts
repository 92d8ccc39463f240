import type { Condition } from './anomalies.schema.ts';

/** A fact about an agent that is true now, by one rule. */
export interface Finding {
  readonly ruleId: string;
  readonly agentId: string;
  readonly principalId: string | null;
  readonly grantId: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** A fact that single entries showed. It is forgotten when its alert is resolved. */
  readonly isSighted?: true;
}

/** Equal for findings that are the same thing. */
export const keyOf = ({ ruleId, agentId, principalId, grantId }: Omit<Finding, 'metadata'>): string =>
  [ruleId, agentId, principalId ?? '', grantId ?? ''].join(' ');

/** A count that may be over a threshold, with what it is compared with. */
export interface Candidate {
  readonly measure: string;
  readonly agentId: string;
  readonly entries: number;
  /** For `hour` the entries of the week before, for `failed` all entries of the day. */
  readonly against: number;
  /** The time of the agent's first entry; for `hour` alone. */
  readonly firstAt: Date | null;
}

const LEAST_SPIKE = 50;
const SPIKE_FACTOR = 3;
const HOUR = 3_600_000; // milliseconds
const WEEK_HOURS = 168;
const LEAST_HISTORY_HOURS = 24;
const LEAST_ENTRIES = 5;
const MAX_FAILURES = 0.2;
const MAX_AT_NIGHT = 10;
const LEAST_ESCALATIONS = 3;

/** The counts at which a rule may fire at all, so that others need not be read. */
export const LEAST: Readonly<Record<string, number>> = {
  hour: LEAST_SPIKE + 1,
  failed: 2, // one of five is not over a fifth
  night: MAX_AT_NIGHT + 1,
  escalation: LEAST_ESCALATIONS,
};

/** @returns undefined when the rule of the count does not fire */
export function findingOf(candidate: Candidate, at: Date): Finding | undefined {
  const { measure, agentId, entries, against } = candidate;
  const of = (ruleId: string, metadata: Finding['metadata']): Finding => ({
    ruleId,
    agentId,
    principalId: null,
    grantId: null,
    metadata,
  });
  switch (measure) {
    case 'hour': {
      const { threshold, hourlyMean } = spikeThreshold(candidate, at);
      if (entries <= threshold) return undefined;
      return of('rate_spike', { entries, window: '1h', threshold, hourlyMean });
    }
    case 'failed': {
      if (against < LEAST_ENTRIES || entries <= MAX_FAILURES * against) return undefined;
      const share = Number((entries / against).toFixed(3));
      return of('high_failure_rate', {
        failures: entries,
        entries: against,
        share,
        window: '24h',
        threshold: MAX_FAILURES,
      });
    }
    case 'night':
      if (entries <= MAX_AT_NIGHT) return undefined;
      return of('off_hours_activity', { entries, window: '24h', threshold: MAX_AT_NIGHT });
    case 'escalation':
      if (entries < LEAST_ESCALATIONS) return undefined;
      return of('scope_escalation', { refusals: entries, window: '1h', threshold: LEAST_ESCALATIONS });
    default:
      return undefined;
  }
}

/** The mean is that of the seven days before the last hour, or of the part of them since the agent's first entry. */
function spikeThreshold({ against, firstAt }: Candidate, at: Date) {
  const hours = firstAt ? (at.getTime() - firstAt.getTime()) / HOUR : 0;
  if (hours < LEAST_HISTORY_HOURS) return { threshold: LEAST_SPIKE, hourlyMean: null };
  const mean = against / Math.min(WEEK_HOURS, hours - 1);
  return {
    threshold: Math.max(LEAST_SPIKE, Number((SPIKE_FACTOR * mean).toFixed(3))),
    hourlyMean: Number(mean.toFixed(3)),
  };
}

/** A rule as one developer has it. */
export interface Rule {
  readonly ruleId: string;
  readonly name: string;
  readonly severity: Severity;
  readonly description: string;
  readonly enabled: boolean;
  readonly response: 'none' | 'revoke_grants' | 'suspend_agent';
  /** The channels to which its alerts go, by name or id; all when there are none. Built-in rules have none. */
  readonly channels?: readonly string[];
}

/** A finding of a developer's own rule. */
export const customFinding = (
  ruleId: string,
  candidate: Pick<Candidate, 'agentId' | 'entries'>,
  condition: { readonly timeWindow: Window; readonly threshold: number },
): Finding => ({
  ruleId,
  agentId: candidate.agentId,
  principalId: null,
  grantId: null,
  metadata: { entries: candidate.entries, window: condition.timeWindow, threshold: condition.threshold },
});

/** The kind of response to a new alert. */
export type Response = 'none' | 'revoke_grants' | 'suspend_agent';
export type Severity = 'low' | 'medium' | 'high' | 'critical';

export const WINDOWS = { '5m': 300, '15m': 900, '1h': 3600, '6h': 21_600, '24h': 86_400 } as const; // seconds
export type Window = keyof typeof WINDOWS;

/** The most that a rule asks of an entry: to be among each of its lists. A list that is absent takes every entry. */
export interface Filter {
  readonly agentIds?: readonly string[];
  readonly scopes?: readonly string[];
  readonly actions?: readonly string[];
  readonly statuses?: readonly string[];
  readonly reasons?: readonly string[];
  readonly atNight?: true;
}

/** One count of each agent's entries. `week` means the seven days before the last hour. */
export interface Measure extends Filter {
  readonly measure: string;
  readonly window: Window | 'week';
}

export interface BuiltIn {
  readonly ruleId: string;
  readonly name: string;
  readonly severity: Severity;
  readonly description: string;
}

const NIGHT = '22:00–06:00 UTC';

const builtIns: readonly BuiltIn[] = [
  {
    ruleId: 'rate_spike',
    name: 'Rate spike',
    severity: 'high',
    description:
      'An agent has more entries in an hour than 50, and than three times its hourly mean of a week.',
  },
  {
    ruleId: 'high_failure_rate',
    name: 'High failure rate',
    severity: 'medium',
    description: 'Over a fifth of at least five entries of an agent in 24 hours failed or were blocked.',
  },
  {
    ruleId: 'off_hours_activity',
    name: 'Off-hours activity',
    severity: 'low',
    description: `An agent has over ten entries in 24 hours between ${NIGHT}.`,
  },
  {
    ruleId: 'new_principal',
    name: 'New principal',
    severity: 'low',
    description: 'An agent got its first grant of a principal in the last 24 hours.',
  },
  {
    ruleId: 'token_replay',
    name: 'Token replay',
    severity: 'critical',
    description: 'A used code or a rotated refresh token was presented again in the last 24 hours.',
  },
  {
    ruleId: 'scope_escalation',
    name: 'Scope escalation',
    severity: 'high',
    description: 'An agent was refused scopes beyond its registration or its grant three times in an hour.',
  },
  {
    ruleId: 'rapid_revocation',
    name: 'Rapid revocation',
    severity: 'high',
    description: 'One cause revoked over five grants of an agent within 60 seconds.',
  },
  {
    ruleId: 'budget_cliff',
    name: 'Budget cliff',
    severity: 'high',
    description: 'At least 90 % of a budget was spent within an hour of its first debit.',
  },
];

export const isBuiltIn = (ruleId: string) => builtIns.some((rule) => rule.ruleId === ruleId);

/** The reasons of refusals of scopes beyond those that an agent has. */
const ESCALATIONS = ['scope_exceeded', 'tool_not_granted'];

export const builtInMeasures: readonly Measure[] = [
  { measure: 'hour', window: '1h' },
  { measure: 'week', window: 'week' },
  { measure: 'day', window: '24h' },
  { measure: 'failed', window: '24h', statuses: ['failure', 'blocked'] },
  { measure: 'night', window: '24h', atNight: true },
  { measure: 'escalation', window: '1h', statuses: ['blocked'], reasons: ESCALATIONS },
];

/** Entries about an agent that its developer or the service wrote in managing it. They are nothing that it did. */
export const MANAGEMENT = [
  'agent.created',
  'agent.updated',
  'agent.suspended',
  'agent.resumed',
  'agent.revoked',
  'grant.revoked',
  'budget.allocated',
  'anomaly.detected',
  'anomaly.acknowledged',
  'anomaly.resolved',
  'anomaly.auto_revoked',
];

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

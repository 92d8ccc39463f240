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

export const builtIns: readonly BuiltIn[] = [
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

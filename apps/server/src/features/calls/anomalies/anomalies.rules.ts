import type { Severity, Window } from './builtin.rules.ts';

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
const MOST_FAILURES = 0.2;
const MOST_AT_NIGHT = 10;
const LEAST_ESCALATIONS = 3;

/** The counts at which a rule may fire at all, so that others need not be read. */
export const LEAST: Readonly<Record<string, number>> = {
  hour: LEAST_SPIKE + 1,
  failed: 2, // one of five is not over a fifth
  night: MOST_AT_NIGHT + 1,
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
      if (against < LEAST_ENTRIES || entries <= MOST_FAILURES * against) return undefined;
      const share = Number((entries / against).toFixed(3));
      return of('high_failure_rate', {
        failures: entries,
        entries: against,
        share,
        window: '24h',
        threshold: MOST_FAILURES,
      });
    }
    case 'night':
      if (entries <= MOST_AT_NIGHT) return undefined;
      return of('off_hours_activity', { entries, window: '24h', threshold: MOST_AT_NIGHT });
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

import type { Act } from '../../../platform/acts.ts';
import { type Caller, systemCaller, type Tenant } from '../../../platform/caller.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { newId } from '../../../platform/ids.ts';
import { listAgentDids } from '../../accounts/agents/agents.queries.ts';
import { suspendAgentWithin } from '../../accounts/agents/index.ts';
import { countEnded, revokeActiveGrantsOfAgent, revokeGrantWithin } from '../../grants/grants/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import { toAnomaly } from './alerts.ts';
import {
  type AlertRow,
  addOpenAlerts,
  EACH_ROUND,
  ensureState,
  leaveLease,
  listDueAcrossTenants,
  listRuleRows,
  lockState,
  takeLease,
  updateState,
  upsertAlerts,
} from './anomalies.repo.ts';
import {
  builtInsWith,
  customFinding,
  type Finding,
  findingOf,
  isCounting,
  keyOf,
  LEAST,
  type OwnRule,
  ownRules,
  type Response,
  type Rule,
} from './anomalies.rules.ts';
import type { AnomalyDetection } from './anomalies.schema.ts';
import {
  afterAllWindows,
  beforeAllWindows,
  type CountDeps,
  countTo,
  earlier,
  sightedSince,
} from './count.ts';
import { listCandidates, listSightings, mayFireAgain } from './counts.repo.ts';
import { announceToChannels } from './messages.ts';

type FindingMetadata = Finding['metadata'];

const sentences: Readonly<Record<string, (finding: FindingMetadata) => string>> = {
  rate_spike: (finding) =>
    `The agent has ${finding.entries} entries in an hour, over the threshold of ${finding.threshold}.`,
  high_failure_rate: (finding) =>
    `${finding.failures} of the agent’s ${finding.entries} entries in 24 hours failed or were blocked.`,
  off_hours_activity: (finding) =>
    `The agent has ${finding.entries} entries in 24 hours between 22:00 and 06:00 UTC.`,
  new_principal: () => 'The agent got its first grant of this principal.',
  token_replay: (finding) =>
    finding.kind === 'code'
      ? 'A code of this grant was presented again after its use.'
      : 'A rotated refresh token of this grant was presented again.',
  scope_escalation: (finding) =>
    `The agent was refused scopes that it does not have ${finding.refusals} times in an hour.`,
  rapid_revocation: (finding) =>
    `Over ${finding.threshold} grants of the agent were revoked within 60 seconds.`,
  budget_cliff: (finding) =>
    `${finding.spent} of ${finding.initial} ${finding.currency} was spent within an hour of the first debit.`,
};

/** A finding in a sentence. It repeats no text that a developer or an agent chose. */
function describe({ ruleId, metadata }: Finding): string {
  const sentence = sentences[ruleId];
  if (sentence) return sentence(metadata);
  return `The agent has ${metadata.entries} matching entries in ${metadata.window}, over the threshold of ${metadata.threshold}.`;
}

export type DetectDeps = CountDeps;

/** Alerts that one transaction writes, so that no transaction is long. */
const PORTION = 200;
/** The most anomalies of an answer. */
const MAX_SHOWN = 1000;

export interface Found {
  readonly at: Date;
  readonly alerts: readonly AlertRow[];
  readonly revokedGrants: number;
}

/** Detects now, for a developer that asks. */
export async function detectNow(deps: DetectDeps, caller: Caller): Promise<AnomalyDetection> {
  await ensureState(deps.db, caller.tenant, beforeAllWindows(deps.clock()));
  const { at, alerts, revokedGrants } = await detect(deps, caller);
  const anomalies = alerts.slice(0, MAX_SHOWN).map(toAnomaly);
  return {
    detectedAt: at.toISOString(),
    total: anomalies.length,
    anomalies,
    autoRevokedGrants: revokedGrants,
  };
}

/** Finds what is true of a developer's agents now, and keeps an alert of each. The service does it, for any caller. */
async function detect(deps: DetectDeps, asking: Caller, signal?: AbortSignal): Promise<Found> {
  const caller = systemCaller(asking.tenant, asking, asking.requestId);
  const at = deps.clock();
  if (!(await countTo(deps, caller.tenant, at, signal))) return { at, alerts: [], revokedGrants: 0 };

  const stored = await listRuleRows(deps.db, caller.tenant);
  const own = ownRules(stored);
  const rules = new Map([...builtInsWith(stored), ...own].map((rule) => [rule.ruleId, rule]));
  const findings = (await findingsOf(deps.db, caller.tenant, own, at)).filter(
    ({ ruleId }) => rules.get(ruleId)?.enabled,
  );
  const alerts: AlertRow[] = [];
  let revokedGrants = 0;
  for (let done = 0; done < findings.length && !signal?.aborted; done += PORTION) {
    const portion = findings.slice(done, done + PORTION);
    const kept = await inTransaction(deps.db, (tx) => keep(tx, caller, { portion, rules, at }));
    alerts.push(...kept.alerts);
    revokedGrants += kept.revokedGrants;
  }
  if (!signal?.aborted) await inTransaction(deps.db, (tx) => rest(tx, caller.tenant, at));
  return { at, alerts, revokedGrants };
}

/**
 * Says when the account is looked at again although no entry comes: in each round while a rule may fire or continue an
 * alert, and once when the last entry has left the windows, so that its counts go. What changes the rules changes it too.
 */
async function rest(tx: Tx, tenant: Tenant, at: Date): Promise<void> {
  const state = await lockState(tx, tenant);
  if (!state) return;
  const stored = await listRuleRows(tx, tenant);
  const isCounted = stored.filter(isCounting).every((rule) => rule.isCounted);
  const again = !isCounted || (await mayFireAgain(tx, tenant, leastOf(ownRules(stored))));
  const last = state.oneWeek === state.head ? null : afterAllWindows(at);
  await updateState(tx, tenant, { ranAt: at, dueAt: again ? EACH_ROUND : last });
}

/** The counts at which a rule may fire, by measure. */
const leastOf = (own: readonly OwnRule[]): Readonly<Record<string, number>> => ({
  ...LEAST,
  ...Object.fromEntries(
    own.filter(({ enabled }) => enabled).map(({ id, condition }) => [id, condition.threshold + 1]),
  ),
});

async function findingsOf(
  db: Executor,
  tenant: Tenant,
  own: readonly OwnRule[],
  at: Date,
): Promise<Finding[]> {
  const enabled = own.filter((rule) => rule.enabled);
  const candidates = await listCandidates(db, tenant, leastOf(own));
  const counted = candidates.flatMap((candidate) => {
    const rule = enabled.find(({ id }) => id === candidate.measure);
    if (rule) return customFinding(rule.ruleId, candidate, rule.condition);
    return findingOf(candidate, at) ?? [];
  });
  const sighted = (await listSightings(db, tenant, sightedSince(at))).map(
    ({ ruleId, agentId, principalId, grantId, metadata }): Finding => ({
      ruleId,
      agentId,
      principalId: principalId || null,
      grantId: grantId || null,
      metadata: Object(metadata),
      isSighted: true,
    }),
  );
  return [...sighted, ...counted];
}

interface Portion {
  readonly portion: readonly Finding[];
  readonly rules: ReadonlyMap<string, Rule>;
  readonly at: Date;
}

/** New findings become alerts, with the responses of their rules; others continue theirs. */
async function keep(tx: Tx, caller: Caller, { portion, rules, at }: Portion) {
  const { tenant } = caller;
  await lockState(tx, tenant);
  const there = await sightedNow(tx, tenant, portion, at);
  const alerts = await upsertAlerts(
    tx,
    tenant,
    portion.flatMap((finding) => {
      if (finding.isSighted && !there.has(keyOf(finding))) return [];
      const rule = rules.get(finding.ruleId);
      return rule ? [rowOf(finding, rule, at)] : [];
    }),
  );
  const created = alerts.filter(({ occurrences }) => occurrences === '1');
  if (created.length === 0) return { alerts, revokedGrants: 0 };

  await addOpenAlerts(tx, tenant, created.length);
  const acts = await detectedActs(tx, tenant, created);
  const responses = await respond(tx, caller, {
    alerts: created,
    responseOf: ({ ruleId }) => rules.get(ruleId)?.response ?? 'none',
    at,
  });
  await announceToChannels(tx, tenant, created, {
    channelsOf: ({ ruleId }) => rules.get(ruleId)?.channels ?? [],
    at,
  });
  await recordActs(tx, caller, [...acts, ...responses.acts], at);
  return { alerts, revokedGrants: responses.revokedGrants };
}

/** The facts of a portion that nobody has resolved since they were read. */
async function sightedNow(tx: Tx, tenant: Tenant, portion: readonly Finding[], at: Date) {
  const agentIds = portion.flatMap(({ isSighted, agentId }) => (isSighted ? [agentId] : []));
  if (agentIds.length === 0) return new Set<string>();
  const sightings = await listSightings(tx, tenant, sightedSince(at), [...new Set(agentIds)]);
  return new Set(sightings.map(keyOf));
}

function rowOf(finding: Finding, { ruleId, name, severity }: Rule, at: Date) {
  const { agentId, principalId, grantId, metadata } = finding;
  return {
    id: newId('anm', at),
    ruleId,
    ruleName: name,
    severity,
    status: 'open' as const,
    agentId,
    principalId,
    grantId,
    description: describe(finding),
    metadata: JSON.stringify(metadata),
    occurrences: '1',
    detectedAt: at,
    lastSeenAt: at,
  };
}

async function detectedActs(tx: Tx, tenant: Tenant, alerts: readonly AlertRow[]): Promise<Act[]> {
  const dids = await listAgentDids(tx, tenant, [...new Set(alerts.map(({ agentId }) => agentId))]);
  return alerts.map(({ id, ruleId, severity, description, agentId, principalId, grantId }): Act => {
    const agentDid = dids.get(agentId);
    return {
      type: 'anomaly.detected',
      agentId,
      ...(agentDid && { agentDid }),
      ...(principalId && { principalId }),
      ...(grantId && { grantId }),
      data: { alertId: id, ruleId, type: ruleId, severity, description },
    };
  });
}

interface Responding {
  readonly alerts: readonly AlertRow[];
  readonly responseOf: (alert: AlertRow) => Response;
  readonly at: Date;
}

/**
 * Does what the rules of new alerts say, in the transaction that creates the alerts. Agents come first, because a
 * revocation of an agent locks the agent before its grants too.
 * @returns the acts, which the caller records
 */
async function respond(
  tx: Tx,
  caller: Caller,
  { alerts, responseOf, at }: Responding,
): Promise<{ acts: Act[]; revokedGrants: number }> {
  const acts: Act[] = [];
  const suspended = alerts.filter((alert) => responseOf(alert) === 'suspend_agent');
  for (const agentId of [...new Set(suspended.map((alert) => alert.agentId))].sort()) {
    acts.push(...(await suspendAgentWithin(tx, caller, agentId, at)));
  }
  let revokedGrants = 0;
  for (const alert of alerts.filter((each) => responseOf(each) === 'revoke_grants')) {
    const { id, agentId, grantId } = alert;
    const revoking = { reason: 'anomaly' } as const;
    const revoked = grantId
      ? await revokeGrantWithin(tx, caller, grantId, revoking, at)
      : await revokeActiveGrantsOfAgent(tx, caller, agentId, revoking, at);
    if (revoked.length === 0) continue;
    const data = { alertId: id, revokedGrants: countEnded(revoked) };
    revokedGrants += data.revokedGrants;
    acts.push({ type: 'anomaly.auto_revoked', agentId, ...(grantId && { grantId }), data }, ...revoked);
  }
  return { acts, revokedGrants };
}

export interface PeriodicDeps extends DetectDeps {
  readonly onFailure: (error: unknown) => void;
  /** Chains in one read. */
  readonly batch?: number;
}

const BATCH = 500;
const LEASE = 600; // seconds; a run of a developer that takes longer may meet another, which only costs time

/** Detects for every developer whose chain has grown, or that is due without. One failure stops no other. */
export async function runDetection(deps: PeriodicDeps, signal: AbortSignal): Promise<void> {
  const { db, clock, batch = BATCH } = deps;
  let after = '';
  while (!signal.aborted) {
    const listed = await listDueAcrossTenants(db, after, clock(), batch);
    for (const account of listed.filter(({ isDue }) => isDue)) {
      if (signal.aborted) return;
      const caller = systemCaller({ developerId: account.developerId }, account, 'anomalies');
      await underLease(deps, caller.tenant, () => detect(deps, caller, signal)).catch(deps.onFailure);
    }
    const last = listed.at(-1);
    if (!last) return;
    after = last.developerId;
  }
}

async function underLease(
  { db, clock }: PeriodicDeps,
  tenant: Tenant,
  work: () => Promise<unknown>,
): Promise<void> {
  const at = clock();
  await ensureState(db, tenant, beforeAllWindows(at));
  const until = earlier(at, -LEASE);
  if (!(await takeLease(db, tenant, at, until))) return;
  try {
    await work();
  } finally {
    await leaveLease(db, tenant, until);
  }
}

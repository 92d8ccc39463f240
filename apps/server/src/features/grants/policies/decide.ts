import type { ActSubject } from '../../../platform/acts.ts';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import type { QuotaResource, Quotas } from '../../../platform/quotas.ts';
import type { Metrics } from '../../../platform/telemetry/metrics.ts';
import { refuseWhenFull } from '../../accounts/quotas/index.ts';
import { recordBlockedAttempt } from '../../record/audit/index.ts';
import { type CompiledPolicies, compilePolicies } from './compile.rules.ts';
import { explanationOf, NO_MATCH, reasonOf } from './explain.rules.ts';
import type { AskedCall, Policy } from './match.rules.ts';
import { askBefore, type OutsidePoint } from './outside.ts';
import { readPolicies } from './policies.repo.ts';
import type { PolicyExplanation, PolicyOperation } from './policies.schema.ts';

export interface DecideDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly quotas: Quotas;
  readonly metrics: Metrics;
  /** Absent where only the policies of the developer decide. */
  readonly outside?: OutsidePoint | undefined;
}

/** A request that policies decide about. */
interface PolicyQuestion {
  readonly operation: PolicyOperation;
  readonly agentId: string;
  readonly agentDid?: string | null;
  readonly principalId: string;
  readonly scopes: readonly string[];
  readonly purpose?: string | null;
  readonly grant?: { readonly id: string; readonly delegationDepth: number };
}

export interface PolicyDecision {
  readonly effect: Policy['effect'] | null;
  readonly policyId: string | null;
  /** Whether the policy that decided lists scopes. */
  readonly namesScopes: boolean;
  readonly reason: string;
  readonly explanation: PolicyExplanation | null;
  readonly evaluated: number;
  readonly backend: 'builtin' | 'opa' | 'cedar';
  /** The version of the policies that were asked. */
  readonly version: string;
}

const undecided = (version: string, evaluated: number): PolicyDecision => ({
  effect: null,
  policyId: null,
  namesScopes: false,
  reason: NO_MATCH,
  explanation: null,
  evaluated,
  backend: 'builtin',
  version,
});

type Question = PolicyQuestion & {
  readonly at: Date;
  readonly address?: string | null;
  readonly delegationDepth?: number;
  readonly call?: AskedCall;
  readonly browser?: { readonly ip: string; readonly userAgent: string | null };
};

/**
 * Asks the policies of the developer, and then the decision point of the operator, if there is one. A denial of either
 * denies. @param version as the request has read it
 */
export async function decide(
  deps: Pick<DecideDeps, 'db' | 'outside'>,
  caller: Caller,
  version: string,
  asked: Question,
): Promise<PolicyDecision> {
  const { tenant } = caller;
  const own = await decideOwn(deps, tenant, version, asked);
  const { outside } = deps;
  if (!outside || own.effect === 'deny') return own;
  const facts = { ...asked, developerId: tenant.developerId };
  const answer = await askBefore(deps.db, caller, outside, facts);
  if (!answer || answer.effect === null || answer.effect === own.effect) return own;
  // Nothing but a denial overrules a policy that leaves the decision to a person.
  if (own.effect === 'require_approval' && answer.effect !== 'deny') return own;
  const { effect, reason } = answer;
  const { backend } = outside;
  return {
    ...undecided(own.version, own.evaluated),
    effect,
    backend,
    reason: reason || `${backend}: ${effect}`,
  };
}

async function decideOwn(
  { db }: Pick<DecideDeps, 'db'>,
  tenant: Tenant,
  version: string,
  asked: Question,
): Promise<PolicyDecision> {
  if (version === '0') return undecided(version, 0);
  const known = await policiesAt(db, tenant, version);
  const policy = known.decide(asked);
  if (!policy) return undecided(known.version, known.size);
  const explanation = explanationOf(policy, asked);
  return {
    ...undecided(known.version, known.size),
    effect: policy.effect,
    policyId: policy.id,
    namesScopes: policy.scopes !== null,
    reason: reasonOf(explanation),
    explanation,
  };
}

/**
 * Asks the policies about a request, and records a denial.
 * @param version the version of the policies, as the request has read it with its other facts
 * @param quotas the quotas that the request takes: a full plan is reported before a denial
 * @throws POLICY_DENIED, PLAN_LIMIT_EXCEEDED
 */
export async function refuseDenied(
  deps: DecideDeps,
  caller: Caller,
  { version, at, quotas = [] }: { version: string; at: Date; quotas?: readonly QuotaResource[] },
  question: PolicyQuestion,
): Promise<PolicyDecision> {
  const decision = await decide(deps, caller, version, {
    ...question,
    at,
    address: addressOf(caller),
    delegationDepth: depthOf(question),
    ...(caller.browser && { browser: caller.browser }),
  });
  const { effect, policyId, backend, reason, evaluated, explanation } = decision;
  const { operation, scopes } = question;
  if (evaluated > 0 || deps.outside) count(deps, question, decision);
  if (effect !== 'deny') return decision;

  for (const resource of quotas) {
    await refuseWhenFull(deps.db, deps.quotas, caller, { resource, used: Number.POSITIVE_INFINITY, at });
  }
  const attempt = {
    action: isBeforeGrant(operation) ? 'authorization.blocked' : 'policy.denied',
    about: subjectOf(question),
    data: { policyId, operation, scopes, backend, reason, explanation },
  } as const;
  await inTransaction(deps.db, (tx) => recordBlockedAttempt(tx, caller, attempt, at));
  throw denied(caller, policyId);
}

/**
 * Asks the developer's policies about a call of a tool. The decision point of the operator is not asked: it would answer
 * each call, and it knows no tools.
 */
export async function decideCall(
  deps: Pick<DecideDeps, 'db' | 'clock' | 'metrics'>,
  caller: Caller,
  version: string,
  question: PolicyQuestion & { readonly call: AskedCall },
): Promise<PolicyDecision> {
  const decision = await decideOwn(deps, caller.tenant, version, {
    ...question,
    at: deps.clock(),
    address: addressOf(caller),
    delegationDepth: depthOf(question),
  });
  count(deps, question, decision);
  return decision;
}

const addressOf = ({ browser, address }: Caller): string | null => browser?.ip ?? address ?? null;

function count(
  { metrics }: Pick<DecideDeps, 'metrics'>,
  { operation }: PolicyQuestion,
  { effect, backend }: PolicyDecision,
): void {
  metrics.counter('policy_decisions_total').inc({ operation, effect: effect ?? 'none', backend });
}

/** The depth of the grant that the request is about. A delegation makes one below its parent. */
const depthOf = ({ operation, grant }: PolicyQuestion): number =>
  (grant?.delegationDepth ?? 0) + (operation === 'delegate' ? 1 : 0);

const isBeforeGrant = (operation: PolicyOperation) => operation === 'authorize' || operation === 'consent';

function subjectOf({ agentId, agentDid, principalId, purpose, grant }: PolicyQuestion): ActSubject {
  return {
    agentId,
    ...(agentDid && { agentDid }),
    principalId,
    ...(purpose && { purpose }),
    ...(grant && { grantId: grant.id }),
  };
}

/** The person at the consent page does not learn which policy it was. */
function denied({ keyId }: Caller, policyId: string | null): AppError {
  const details = keyId === undefined ? undefined : { policyId };
  return new AppError('POLICY_DENIED', 'A policy denies this request.', details);
}

/** The policies of a developer as they were at a version. */
interface KnownPolicies extends CompiledPolicies {
  readonly version: string;
}

/** Policies, scopes, networks and tools that a process keeps in all: some tens of megabytes. */
const MAX_KEPT = 300_000;

interface PolicyCache {
  readonly sets: Map<string, KnownPolicies>;
  readonly loading: Map<string, Promise<KnownPolicies>>;
  kept: number;
}

/** By the adapter of a database, which its executors with further plugins share. */
const byDatabase = new WeakMap<object, PolicyCache>();

const weightOf = ({ policies }: CompiledPolicies) =>
  policies.reduce((sum, { scopes, networks, tools }) => sum + 1 + countOf(scopes, networks, tools), 0);

const countOf = (...lists: (readonly string[] | null)[]) =>
  lists.reduce((sum, list) => sum + (list?.length ?? 0), 0);

/**
 * The developer's policies, at least as new as the version that the caller has read. They are read from the database
 * once for each version. Not for a transaction that has changed policies itself, which a rollback could take back.
 */
export async function policiesAt(db: Executor, tenant: Tenant, version: string): Promise<KnownPolicies> {
  const { adapter } = db.getExecutor();
  const known = byDatabase.get(adapter) ?? { sets: new Map(), loading: new Map(), kept: 0 };
  byDatabase.set(adapter, known);
  const isNewEnough = (set: KnownPolicies) => !isNewer(version, set.version);

  const kept = known.sets.get(tenant.developerId);
  if (kept && isNewEnough(kept)) {
    known.sets.delete(tenant.developerId); // and added again, so that the first is the one longest not asked for
    known.sets.set(tenant.developerId, kept);
    return kept;
  }
  // A transaction holds a connection, and the load of another request may wait for one.
  const underWay = db.isTransaction
    ? undefined
    : await known.loading.get(tenant.developerId)?.catch(() => undefined);
  if (underWay && isNewEnough(underWay)) return underWay;
  return load(db, tenant, known);
}

async function load(db: Executor, tenant: Tenant, known: PolicyCache): Promise<KnownPolicies> {
  const { developerId } = tenant;
  const loading = readPolicies(db, tenant).then(({ version, policies }) => ({
    ...compilePolicies(policies),
    version,
  }));
  known.loading.set(developerId, loading);
  try {
    const set = await loading;
    keep(known, developerId, set);
    return set;
  } finally {
    if (known.loading.get(developerId) === loading) known.loading.delete(developerId);
  }
}

const isNewer = (version: string, than: string) => version !== than && BigInt(version) > BigInt(than);

function keep(known: PolicyCache, developerId: string, set: KnownPolicies): void {
  const before = known.sets.get(developerId);
  if (before && isNewer(before.version, set.version)) return;
  forget(known, developerId);
  known.sets.set(developerId, set);
  known.kept += weightOf(set);
  for (const oldest of known.sets.keys()) {
    if (known.kept <= MAX_KEPT) return;
    forget(known, oldest);
  }
}

function forget(known: PolicyCache, developerId: string): void {
  const set = known.sets.get(developerId);
  if (!set) return;
  known.sets.delete(developerId);
  known.kept -= weightOf(set);
}

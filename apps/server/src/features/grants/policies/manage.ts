import { distinctScopes, isScope } from '@behest/protocol/scopes';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { badField, malformedScopes, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { pageOf } from '../../../platform/paging.ts';
import { findAgentNames } from '../../accounts/agents/agents.queries.ts';
import { mustMayLoosen } from '../../accounts/developers/index.ts';
import { freeQuota, useQuota } from '../../accounts/quotas/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import { neverMatches, warningsAbout } from './analysis.rules.ts';
import { type CompiledPolicies, compilePolicies } from './compile.rules.ts';
import { type DecideDeps, decide, policiesAt } from './decide.ts';
import { isLoosening } from './loosening.rules.ts';
import type { Policy } from './match.rules.ts';
import { policiesVersion } from './policies.queries.ts';
import {
  countPolicies,
  deletePolicyRow,
  findPolicy,
  insertPolicy,
  listPolicyRows,
  nextVersion,
  updatePolicy,
} from './policies.repo.ts';
import {
  changesBetween,
  cursorOf,
  fieldsIn,
  fieldsOf,
  mergedFields,
  shownFields,
  toPolicy,
} from './policies.rules.ts';
import type {
  NewPolicy,
  PolicyChange,
  PolicyEvaluation,
  PolicyEvaluationRequest,
  PolicyPage,
  PolicyQuery,
  PolicyRecord,
  PolicyVersion,
  PolicyVersionPage,
  PolicyVersionQuery,
  PolicyWarning,
  PolicyWithWarnings,
} from './policies.schema.ts';
import { deleteRevisions, insertRevision, listRevisions } from './versions.repo.ts';

/** @throws BAD_REQUEST, PLAN_LIMIT_EXCEEDED */
export async function createPolicy(
  deps: DecideDeps,
  caller: Caller,
  input: NewPolicy,
): Promise<PolicyWithWarnings> {
  const fields = fieldsOf(input);
  const at = deps.clock();
  const id = newId('pol', at);
  const row = { id, ...fields, version: 1, createdAt: at, updatedAt: at };
  const others = await policiesNow(deps, caller);

  await inTransaction(deps.db, async (tx) => {
    await nextVersion(tx, caller.tenant);
    if (isLoosening({ before: undefined, after: fields, others: others.policies }))
      await mustMayLoosen(tx, caller, { about: 'a new policy', difference: { policy: shownFields(fields) } });
    await useQuota(tx, deps.quotas, caller, 'policies', at);
    await insertPolicy(tx, caller.tenant, row);
    await insertRevision(tx, caller.tenant, row, caller.actor);
    const data = { policyId: id, policy: shownFields(fields) };
    await recordActs(tx, caller, [{ type: 'policy.created', data }], at);
  });
  return { ...toPolicy(row), warnings: await warningsOf(deps.db, caller, row, others) };
}

/** What the author of a policy may not have meant. @param others the developer's other policies */
export async function warningsOf(
  db: Executor,
  { tenant }: Caller,
  policy: Policy & { readonly updatedAt: Date },
  others: CompiledPolicies,
): Promise<PolicyWarning[]> {
  const { unknownAgents } = await agentsIn(db, tenant, [policy]);
  return unknownAgents.length > 0 ? [neverMatches()] : warningsAbout(policy, others, policy.updatedAt);
}

/** The ids of agents in policies that no agent has. */
async function agentsIn(db: Executor, tenant: Tenant, policies: readonly Pick<Policy, 'agentId'>[]) {
  const ids = [...new Set(policies.flatMap(({ agentId }) => agentId ?? []))];
  const known = ids.length === 0 ? undefined : await findAgentNames(db, tenant, ids);
  return { unknownAgents: ids.filter((id) => !known?.has(id)) };
}

/** The policies before a change. The set is kept for other requests, so it is read while nothing is changed yet. */
async function policiesNow({ db }: DecideDeps, { tenant }: Caller): Promise<CompiledPolicies> {
  return policiesAt(db, tenant, await policiesVersion(db, tenant));
}

/** In the order of evaluation. */
export async function listPolicies(
  { db }: Pick<DecideDeps, 'db'>,
  { tenant }: Caller,
  query: PolicyQuery,
): Promise<PolicyPage> {
  const [rows, total] = [await listPolicyRows(db, tenant, query), await countPolicies(db, tenant)];
  const { page, nextCursor } = pageOf(rows, cursorOf, toPolicy);
  return { policies: page, ...(await agentsIn(db, tenant, page)), total, nextCursor };
}

/** @throws NOT_FOUND */
export async function getPolicy({ db }: DecideDeps, { tenant }: Caller, id: string): Promise<PolicyRecord> {
  const row = await findPolicy(db, tenant, id);
  if (!row) throw notFound();
  return toPolicy(row);
}

/** What the policy was after each change, the newest first. @throws NOT_FOUND */
export async function listPolicyVersions(
  { db }: DecideDeps,
  { tenant }: Caller,
  id: string,
  query: PolicyVersionQuery,
): Promise<PolicyVersionPage> {
  if (!(await findPolicy(db, tenant, id))) throw notFound();
  const { page, nextCursor } = pageOf(
    await listRevisions(db, tenant, id, query),
    ({ version }) => String(version),
    ({ policy, createdAt, ...row }) => ({
      ...row,
      policy: policy as PolicyVersion['policy'], // as `insertRevision` wrote it
      createdAt: createdAt.toISOString(),
    }),
  );
  return { versions: page, nextCursor };
}

/** A change to what the policy is already changes nothing. @throws BAD_REQUEST, NOT_FOUND */
export async function changePolicy(
  deps: DecideDeps,
  caller: Caller,
  id: string,
  change: PolicyChange,
): Promise<PolicyWithWarnings> {
  const at = deps.clock();
  const { policies } = await policiesNow(deps, caller);
  const row = await inTransaction(deps.db, async (tx) => {
    await nextVersion(tx, caller.tenant);
    const before = await findPolicy(tx, caller.tenant, id);
    if (!before) throw notFound();
    const fields = mergedFields(fieldsIn(before), change);
    const changes = changesBetween(before, fields);
    if (Object.keys(changes).length === 0) return before;
    const others = policies.filter((policy) => policy.id !== id);
    if (isLoosening({ before: fieldsIn(before), after: fields, others }))
      await mustMayLoosen(tx, caller, {
        about: `policy ${id}`,
        difference: { version: before.version, changes },
      });
    const version = before.version + 1;
    const after = { ...before, ...fields, version, updatedAt: at };
    await updatePolicy(tx, caller.tenant, id, { ...fields, version, updatedAt: at });
    await insertRevision(tx, caller.tenant, after, caller.actor);
    await recordActs(tx, caller, [{ type: 'policy.updated', data: { policyId: id, version, changes } }], at);
    return after;
  });
  const others = compilePolicies(policies.filter((policy) => policy.id !== id));
  return { ...toPolicy(row), warnings: await warningsOf(deps.db, caller, row, others) };
}

/** @throws NOT_FOUND */
export function deletePolicy(deps: DecideDeps, caller: Caller, id: string): Promise<void> {
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    await nextVersion(tx, caller.tenant);
    const before = await findPolicy(tx, caller.tenant, id);
    if (!before) throw notFound();
    if (isLoosening({ before: fieldsIn(before), after: undefined, others: [] })) {
      const difference = { version: before.version, deleted: shownFields(fieldsIn(before)) };
      await mustMayLoosen(tx, caller, { about: `policy ${id}`, difference });
    }
    await deletePolicyRow(tx, caller.tenant, id);
    await deleteRevisions(tx, caller.tenant, id);
    await freeQuota(tx, caller, 'policies', 1);
    const data = { policyId: id, policy: shownFields(fieldsIn(before)) };
    await recordActs(tx, caller, [{ type: 'policy.deleted', data }], at);
  });
}

/** Tells how policies would decide, without any effect. @throws INVALID_SCOPE */
export async function evaluatePolicies(
  deps: DecideDeps,
  caller: Caller,
  { at, operation = 'authorize', connector, tool, arguments: args, ...asked }: PolicyEvaluationRequest,
): Promise<PolicyEvaluation> {
  const wrong = asked.scopes.filter((scope) => !isScope(scope));
  if (wrong.length > 0) throw malformedScopes(wrong);
  if ((connector === undefined) !== (tool === undefined)) {
    throw badField(connector === undefined ? 'connector' : 'tool', 'required');
  }
  const when = at === undefined ? deps.clock() : new Date(at);
  const version = await policiesVersion(deps.db, caller.tenant);
  const call = connector !== undefined && tool !== undefined && { connector, tool, arguments: args };
  const scopes = distinctScopes(asked.scopes);
  const question = { ...asked, operation, scopes, at: when, ...(call && { call }) };
  const { effect, policyId, reason, evaluated, backend, explanation } = await decide(
    deps,
    caller,
    version,
    question,
  );
  const conditions = explanation?.conditions ?? [];
  return { effect, policyId, reason, evaluated, backend, conditions, explanation };
}

import type { Caller, Tenant } from '../../../platform/caller.ts';
import { notFound } from '../../../platform/errors.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { findAgentNames } from '../../accounts/agents/agents.queries.ts';
import { findBrand } from '../../accounts/developers/developers.queries.ts';
import { approverIn, findApprover, listAllApprovers } from '../approvers/index.ts';
import { standingOf } from './approve.ts';
import type { DecisionsDeps } from './decisions.acts.ts';
import {
  type ApprovalRow,
  type DecisionRow,
  findDecision,
  findLastApproved,
  findPrevious,
  listApprovals,
} from './decisions.repo.ts';
import { statusAt } from './decisions.rules.ts';
import type {
  ApproverDecisionPage,
  Decision,
  DecisionForApprover,
  DecisionPage,
  DecisionQuery,
  RoutedQuery,
} from './decisions.schema.ts';
import { listDecisionRows, listRoutedRows } from './lists.repo.ts';
import { argumentsOf, inWords } from './messages.ts';
import { eligibleOf } from './routing.ts';

type ShowDeps = Pick<DecisionsDeps, 'db' | 'clock' | 'publicBaseUrl'>;

export async function listDecisions(
  deps: ShowDeps,
  caller: Caller,
  query: DecisionQuery,
): Promise<DecisionPage> {
  const { db, clock } = deps;
  const { page, nextCursor } = pageOf(await listDecisionRows(db, caller, query, clock()), byId, (row) => row);
  const approvals = await listStanding(db, caller.tenant, page);
  const of = Map.groupBy(approvals, ({ decisionId }) => decisionId);
  return { decisions: page.map((row) => toDecision(deps, row, of.get(row.id) ?? [])), nextCursor };
}

/** @throws NOT_FOUND */
export async function showDecision(deps: ShowDeps, caller: Caller, id: string): Promise<Decision> {
  const row = await findDecision(deps.db, caller, id);
  if (!row) throw notFound();
  return withApprovals(deps, row);
}

export const withApprovals = async (deps: ShowDeps, row: DecisionRow): Promise<Decision> =>
  toDecision(deps, row, await listStanding(deps.db, row, [row]));

/** The approvals that count: while a request waits, none of a person who was removed or suspended. */
async function listStanding(
  db: ShowDeps['db'],
  tenant: Tenant,
  rows: readonly DecisionRow[],
): Promise<ApprovalRow[]> {
  const approvals = await listApprovals(db, tenant, rows.map(byId));
  const waiting = new Set(rows.filter(({ status }) => status === 'pending').map(byId));
  if (!approvals.some(({ decisionId }) => waiting.has(decisionId))) return approvals;
  const people = await listAllApprovers(db, tenant);
  const active = new Set(people.filter(({ status }) => status === 'active').map(byId));
  return approvals.filter(({ decisionId, approverId }) => !waiting.has(decisionId) || active.has(approverId));
}

export function toDecision(
  { clock, publicBaseUrl }: ShowDeps,
  row: DecisionRow,
  approvals: readonly ApprovalRow[],
): Decision {
  const { id, connector, tool, actionHash, caseId, caseVersion, decision, quorum } = row;
  const { agentId, grantId, principalId } = row;
  return {
    ...{ decisionId: id, status: statusAt(row, clock()), connector, tool },
    arguments: argumentsOf(row),
    ...{ actionHash, caseId, caseVersion, decision, quorum },
    approvals: approvals.map(({ sub, approvedAt, position, onBehalfOf, isRelaxed }) => ({
      approver: sub,
      at: approvedAt.toISOString(),
      position,
      ...(onBehalfOf !== null && { onBehalfOf }),
      ...(isRelaxed && { relaxed: true }),
    })),
    ...{ agentId, grantId, principalId },
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
    url: `${publicBaseUrl}/approve#decision=${id}`,
  };
}

/** The requests that go to an approver. */
export async function listRouted(
  deps: DecisionsDeps,
  caller: Caller,
  query: RoutedQuery,
): Promise<ApproverDecisionPage> {
  const { db, clock } = deps;
  const at = clock();
  const { approverId } = approverIn(caller);
  const all = await listAllApprovers(db, caller.tenant);
  const absent = all.filter(({ id }) => eligibleOf(all, [id], at).some(({ row }) => row.id === approverId));
  const ids = [approverId, ...absent.map(({ id }) => id)]; // their own requests, and those they stand in for
  const { page, nextCursor } = pageOf(
    await listRoutedRows(db, caller.tenant, ids, query, at),
    byId,
    (row) => row,
  );
  const names = await findAgentNames(
    db,
    caller.tenant,
    page.map(({ agentId }) => agentId),
  );
  return {
    decisions: page.map((row) => ({
      ...{ decisionId: row.id, connector: row.connector, tool: row.tool, caseId: row.caseId },
      agentName: names.get(row.agentId) ?? row.agentId,
      status: statusAt(row, at),
      createdAt: row.createdAt.toISOString(),
      expiresAt: row.expiresAt.toISOString(),
    })),
    nextCursor,
  };
}

/** A request with everything that a person has to see before they decide. @throws NOT_FOUND */
export async function showRouted(
  deps: DecisionsDeps,
  caller: Caller,
  { id, languages }: { readonly id: string; readonly languages: string | undefined },
): Promise<DecisionForApprover> {
  const { db, clock } = deps;
  const { row, eligible } = await standingOf(deps, db, caller, id);
  const approvals = await listStanding(db, caller.tenant, [row]);
  const [first] = approvals;
  const firstApprover = first && (await findApprover(db, caller.tenant, first.approverId));
  const previous = row.caseId === null ? undefined : await findPrevious(db, row);
  const last = await findLastApproved(db, row);
  const names = await findAgentNames(db, caller.tenant, [row.agentId]);
  return {
    ...toDecision(deps, row, approvals),
    ...(await inWords(db, row, languages)),
    lastApproved: last
      ? { decisionId: last.id, arguments: argumentsOf(last), createdAt: last.createdAt.toISOString() }
      : null,
    ...{ permission: row.permission, purpose: row.purpose, summary: row.summary, canonical: row.action },
    agentName: names.get(row.agentId) ?? row.agentId,
    ...(await findBrand(db, row)),
    previous: previous?.action ?? null,
    firstApprover: firstApprover ? firstApprover.displayName || firstApprover.id : null,
    mayDecide: eligible !== undefined && statusAt(row, clock()) === 'pending',
  };
}

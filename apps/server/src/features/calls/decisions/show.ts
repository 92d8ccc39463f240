import type { Caller, Tenant } from '../../../platform/caller.ts';
import { notFound } from '../../../platform/errors.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { listAllApprovers } from '../approvers/approvers.queries.ts';
import { type ApprovalRow, type DecisionRow, findDecision, listApprovals } from './decisions.repo.ts';
import { statusAt } from './decisions.rules.ts';
import type { Decision, DecisionPage, DecisionQuery } from './decisions.schema.ts';
import type { DecisionsDeps } from './deps.ts';
import { listDecisionRows } from './lists.repo.ts';

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
export async function listStanding(
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
    arguments: JSON.parse(row.action).arguments,
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

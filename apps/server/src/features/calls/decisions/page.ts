import type { Caller } from '../../../platform/caller.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { findAgentNames } from '../../accounts/agents/agents.queries.ts';
import { findDeveloperName } from '../../accounts/developers/developers.queries.ts';
import { findApprover, listAllApprovers } from '../approvers/approvers.queries.ts';
import { approverIn } from '../approvers/index.ts';
import { standingOf } from './approve.ts';
import { findPrevious } from './decisions.repo.ts';
import { statusAt } from './decisions.rules.ts';
import type { RoutedDecisions, RoutedQuery, ShownDecision } from './decisions.schema.ts';
import type { DecisionsDeps } from './deps.ts';
import { listRoutedRows } from './lists.repo.ts';
import { eligibleOf } from './routing.ts';
import { listStanding, toDecision } from './show.ts';

/** The requests that go to an approver. */
export async function listRouted(
  deps: DecisionsDeps,
  caller: Caller,
  query: RoutedQuery,
): Promise<RoutedDecisions> {
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
export async function showRouted(deps: DecisionsDeps, caller: Caller, id: string): Promise<ShownDecision> {
  const { db, clock } = deps;
  const { row, eligible } = await standingOf(deps, db, caller, id);
  const approvals = await listStanding(db, caller.tenant, [row]);
  const [first] = approvals;
  const firstApprover = first && (await findApprover(db, caller.tenant, first.approverId));
  const previous = row.caseId === null ? undefined : await findPrevious(db, row);
  const names = await findAgentNames(db, caller.tenant, [row.agentId]);
  return {
    ...toDecision(deps, row, approvals),
    ...{ permission: row.permission, purpose: row.purpose, summary: row.summary, canonical: row.action },
    agentName: names.get(row.agentId) ?? row.agentId,
    developerName: await findDeveloperName(db, row),
    previous: previous?.action ?? null,
    firstApprover: firstApprover ? firstApprover.displayName || firstApprover.id : null,
    mayDecide: eligible !== undefined && statusAt(row, clock()) === 'pending',
  };
}

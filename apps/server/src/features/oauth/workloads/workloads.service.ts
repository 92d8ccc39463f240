import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { heldAgent } from '../../accounts/agents/agents.queries.ts';
import { recordActs } from '../../record/audit/index.ts';
import { findJwksUri, mustBeReachable } from './workloads.keys.service.ts';
import {
  countWorkloads,
  deleteWorkloadRow,
  insertWorkload,
  listWorkloadRows,
  type WorkloadRow,
} from './workloads.repo.ts';
import { isSubjectPattern, isTrustDomain } from './workloads.rules.ts';
import type { NewWorkload, Workload, WorkloadPage, WorkloadQuery } from './workloads.schema.ts';

export interface WorkloadDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly issuer: string;
  /** The client for issuers. */
  readonly upstream: Egress;
}

const MOST = 20;

/**
 * Trusts JWTs of an issuer to identify an agent.
 * @throws NOT_FOUND, BAD_REQUEST, DISCOVERY_FAILED, CONFLICT for more than 20
 */
export async function addWorkload(
  deps: WorkloadDeps,
  caller: Caller,
  agentId: string,
  input: NewWorkload,
): Promise<Workload> {
  const { issuer, jwksUri, audience = deps.issuer, subject, claims = {} } = input;
  if (!isSubjectPattern(subject)) {
    throw badField('subject', 'format', 'A `*` stands at the end, after a `/` or `:`.');
  }
  const isSpiffe = isTrustDomain(issuer);
  if (isSpiffe && jwksUri === undefined) throw badField('jwksUri', 'required');
  if (isSpiffe && !subject.startsWith(`${issuer}/`)) throw badField('subject', 'not_allowed');
  await mustExist(deps.db, caller, agentId);
  const keys =
    jwksUri === undefined
      ? await findJwksUri(deps.upstream, issuer)
      : mustBeReachable(deps.upstream, jwksUri);
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    const agent = await heldAgent(tx, caller.tenant, agentId);
    if (!agent || agent.status === 'revoked') throw notFound();
    if ((await countWorkloads(tx, caller.tenant, agentId)) >= MOST) {
      throw new AppError('CONFLICT', `An agent has ${MOST} workloads at most.`, { field: 'workloads' });
    }
    const row = await insertWorkload(tx, caller.tenant, {
      ...{ id: newId('wli', at), agentId, issuer, jwksUri: keys, audience, subject },
      claims: JSON.stringify(claims),
      maxSeconds: input.maxTokenSeconds,
      allowReuse: input.allowReuse,
      createdAt: at,
    });
    await recordActs(tx, caller, [actOf('agent.workload.created', row, agent.did)], at);
    return toWorkload(row);
  });
}

async function mustExist(db: Executor, caller: Caller, agentId: string): Promise<void> {
  const agent = await inTransaction(db, (tx: Tx) => heldAgent(tx, caller.tenant, agentId));
  if (!agent) throw notFound();
}

/** @throws NOT_FOUND */
export async function listWorkloads(
  deps: Pick<WorkloadDeps, 'db'>,
  caller: Caller,
  agentId: string,
  query: WorkloadQuery,
): Promise<WorkloadPage> {
  await mustExist(deps.db, caller, agentId);
  const rows = await listWorkloadRows(deps.db, caller.tenant, agentId, query);
  const { page, nextCursor } = pageOf(rows, byId, toWorkload);
  return { workloads: page, nextCursor };
}

/** @throws NOT_FOUND */
export function removeWorkload(
  { db, clock }: Pick<WorkloadDeps, 'db' | 'clock'>,
  caller: Caller,
  { agentId, workloadId }: { readonly agentId: string; readonly workloadId: string },
): Promise<void> {
  const at = clock();
  return inTransaction(db, async (tx) => {
    const agent = await heldAgent(tx, caller.tenant, agentId);
    const row = agent && (await deleteWorkloadRow(tx, caller.tenant, agentId, workloadId));
    if (!row) throw notFound();
    await recordActs(tx, caller, [actOf('agent.workload.deleted', row, agent.did)], at);
  });
}

function actOf(
  type: 'agent.workload.created' | 'agent.workload.deleted',
  { id, agentId, issuer }: WorkloadRow,
  agentDid: string,
): Act {
  return { type, agentId, agentDid, data: { workloadId: id, issuer } };
}

function toWorkload(row: WorkloadRow): Workload {
  const { id, agentId, issuer, jwksUri, audience, subject, claims, maxSeconds, allowReuse } = row;
  return {
    ...{ id, workloadId: id, agentId, issuer, jwksUri, audience, subject, allowReuse },
    claims: Object(claims),
    maxTokenSeconds: maxSeconds,
    createdAt: row.createdAt.toISOString(),
  };
}

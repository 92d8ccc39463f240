import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { acceptUrl } from '../../../platform/egress/urls.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { heldAgent } from '../../accounts/agents/agents.queries.ts';
import { recordActs } from '../../record/audit/index.ts';
import { objectIn } from '../../vault/providers/index.ts';
import {
  countWorkloads,
  deleteWorkloadRow,
  insertWorkload,
  listWorkloadRows,
  type WorkloadRow,
} from './workloads.repo.ts';
import { isSubjectPattern, isTrustDomain } from './workloads.rules.ts';
import type { NewWorkload, Workload, WorkloadPage, WorkloadQuery } from './workloads.schema.ts';

const unusable = (step: string, reason: string) =>
  new AppError('DISCOVERY_FAILED', 'The issuer cannot be used as it describes itself.', { step, reason });

/**
 * Finds the address of an issuer's keys in its metadata, which name the issuer itself.
 * @throws DISCOVERY_FAILED
 * @see OpenID Connect Discovery 1.0, section 4
 */
async function findJwksUri(upstream: Egress, issuer: string): Promise<string> {
  if (!acceptUrl(issuer, upstream.rules)) throw unusable('issuer', 'blocked_address');
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const answer = await upstream.ask({ url, method: 'GET', headers: { accept: 'application/json' } });
  if (answer.failure !== undefined) throw unusable('fetch', answer.failure);
  const document = answer.status === 200 ? objectIn(answer.body) : undefined;
  if (!document) throw unusable('fetch', 'no_metadata');
  if (document.issuer !== issuer) throw unusable('issuer', 'mismatch');
  return mustBeReachable(upstream, String(document.jwks_uri));
}

/** @throws DISCOVERY_FAILED */
function mustBeReachable(upstream: Egress, jwksUri: string): string {
  if (!acceptUrl(jwksUri, upstream.rules)) throw unusable('jwks_uri', 'blocked_address');
  return jwksUri;
}

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

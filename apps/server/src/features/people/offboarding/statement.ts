import type { Act } from '../../../platform/acts.ts';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import type { OnAgentEnded } from '../../accounts/agents/index.ts';
import type { Chained } from '../../record/audit/index.ts';
import { type KeyRing, signStatement } from '../../service/keys/index.ts';
import {
  countUsable,
  findOffboarding,
  type Ids,
  insertOffboarding,
  listReceivers,
  listUntold,
  type OffboardingRow,
  type Subject,
} from './offboarding.repo.ts';
import type { OffboardingProof } from './offboarding.schema.ts';

/** The kinds of things that end, each with the act of its end. */
const ENDS: Readonly<Partial<Record<Act['type'], string>>> = {
  'grant.revoked': 'grants',
  'authorization.cancelled': 'requests',
  'principal.session_ended': 'sessions',
  'sso.session.revoked': 'ssoSessions',
  'principal.address_removed': 'addresses',
  'fido.removed': 'passkeys',
  'vault.credential.deleted': 'vaultCredentials',
  'vault.connection.failed': 'connectSessions',
  'approver.removed': 'approvers',
};

interface Ending {
  readonly acts: readonly Act[];
  readonly chained: Chained;
  readonly at: Date;
}

/**
 * Keeps what an offboarding has ended, and what of its subject is still of use, as its own transaction sees it. The chain's
 * head is locked by then, so this is the account at that entry.
 */
export async function keepEnding(
  tx: Tx,
  tenant: Tenant,
  subject: Subject & Ids & { readonly closed?: readonly string[] },
  { acts, chained: { first, last }, at }: Ending,
): Promise<void> {
  const { kind, subjectId, exact, folded, closed = [] } = subject;
  const ended: Record<string, number> = {};
  const grantIds: string[] = [];
  for (const { type, grantId } of acts) {
    const counted = ENDS[type];
    if (counted !== undefined) ended[counted] = (ended[counted] ?? 0) + 1;
    if (type === 'grant.revoked' && grantId !== undefined) grantIds.push(grantId);
  }
  const remaining = await countUsable(tx, tenant, subject, grantIds, at);
  const isPerson = kind === 'principal';
  const untold = isPerson ? await listUntold(tx, tenant, exact) : { first: [], count: 0 };
  await insertOffboarding(tx, tenant, {
    ...{ kind, subjectId, id: newId('ofb', at), principalIds: [...closed], foldedIds: [...folded] },
    firstSeq: first.seq,
    seq: last.seq,
    hash: Buffer.from(last.hash, 'hex'),
    ended: JSON.stringify(ended),
    remaining: JSON.stringify(remaining),
    upstream: JSON.stringify(
      Object.fromEntries(
        untold.first.map(({ id, service }) => [id, { service, state: 'pending', at: null }]),
      ),
    ),
    upstreamStates: JSON.stringify({ pending: untold.count }),
    endedAt: at,
  });
}

export const keepEndOfAgent: OnAgentEnded = (tx, { tenant }, { agentId, ...ending }) =>
  keepEnding(tx, tenant, { kind: 'agent', subjectId: agentId, exact: [agentId], folded: [] }, ending);

export interface StatementDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
  readonly issuer: string;
}

/**
 * The statement of the last offboarding of a principal, or of the revocation of an agent, signed as things stand now: its
 * upstreams and receivers may have been told since.
 * @throws NOT_FOUND where nothing of the kind is known
 */
export async function getOffboarding(
  deps: StatementDeps,
  { tenant }: Caller,
  subject: Subject,
): Promise<OffboardingProof> {
  const row = await findOffboarding(deps.db, tenant, subject);
  if (!row) throw notFound();
  const told = { ...toldOf(row), ...(await listReceivers(deps.db, tenant, row.endedAt)) };
  const issuedAt = Math.floor(deps.clock().getTime() / 1000);
  const claims = { iss: deps.issuer, dev: tenant.developerId, ...told, iat: issuedAt };
  const statement = await signStatement(deps.keyRing, 'offboarding-statement+jwt', claims);
  return { ...told, statement };
}

function toldOf(row: OffboardingRow) {
  const { id: offboardingId, kind, subjectId, ended, remaining, principalIds, isClosed } = row;
  return {
    offboardingId,
    kind,
    subjectId,
    principalIds,
    principalIdsInAnyCase: row.foldedIds,
    isClosed,
    endedAt: row.endedAt.toISOString(),
    firstSeq: Number(row.firstSeq),
    seq: Number(row.seq),
    hash: row.hash.toString('hex'),
    ended,
    remaining,
    upstream: Object.entries(row.upstream).map(([credentialId, told]) => ({ credentialId, ...told })),
    upstreamStates: { pending: 0, revoked: 0, failed: 0, unsupported: 0, ...row.upstreamStates },
  };
}

import { parseDuration } from '@behest/protocol/durations';
import { type Act, concerning } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { AppError, agentInactive, badField, notFound } from '../../../platform/errors.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { holdAgentStanding } from '../../accounts/agents/agents.queries.ts';
import { findGrant, type GrantRow, holdGrant } from '../../grants/grants/grants.queries.ts';
import { recordActs } from '../../record/audit/index.ts';
import { type CredentialDeps, issuedAct, signCredential, storeCredential } from './sign.ts';
import {
  type CredentialRow,
  findCredential,
  listCredentialRows,
  listCredentialsById,
  revokeRows,
} from './verifiable-credentials.repo.ts';
import type {
  CredentialQuery,
  CredentialRevocation,
  NewVerifiableCredential,
  VerifiableCredential,
  VerifiableCredentialPage,
} from './verifiable-credentials.schema.ts';

/**
 * Issues a credential about an active grant. It ends with the grant at the latest.
 * @throws BAD_REQUEST, NOT_FOUND, GRANT_INACTIVE, AGENT_INACTIVE
 */
export async function issueCredential(
  deps: CredentialDeps,
  caller: Caller,
  asked: NewVerifiableCredential,
): Promise<VerifiableCredential> {
  const at = deps.clock();
  mustFit(asked);
  const seconds = lifetimeOf(asked);
  const grant = await findGrant(deps.db, caller, asked.grantId);
  if (!grant) throw notFound();
  mustBeActive(grant, at);
  const credential = await signCredential(deps, caller, { ...asked, grant, at, seconds });
  const isKept = await inTransaction(deps.db, async (tx) => {
    const standing = await holdAgentStanding(tx, caller.tenant, grant.agentId);
    mustBeActive((await holdGrant(tx, caller, grant.id)) ?? grant, at);
    if (standing !== 'active') throw agentInactive();
    if (!(await storeCredential(tx, caller, credential, at))) return false;
    await recordActs(tx, caller, [issuedAct(credential)], at);
    return true;
  });
  if (!isKept) return issueCredential(deps, caller, asked);
  return toCredential({ ...credential, ...caller.tenant }, at);
}

/** Fields of one format only. */
function mustFit({ format, holderJwk, selectiveFields }: NewVerifiableCredential): void {
  if (format === 'sd-jwt') return;
  if (holderJwk)
    throw badField('holderJwk', 'not_allowed', 'Only an SD-JWT is bound to the key of a holder.');
  if (selectiveFields) {
    throw badField(
      'selectiveFields',
      'not_allowed',
      'Only an SD-JWT has claims that its holder may keep back.',
    );
  }
}

function lifetimeOf({ expiresIn }: NewVerifiableCredential): number | undefined {
  if (expiresIn === undefined) return undefined;
  const seconds = parseDuration(expiresIn);
  if (seconds === undefined) throw badField('expiresIn', 'format');
  return seconds;
}

function mustBeActive({ status, expiresAt }: GrantRow, at: Date): void {
  const reason = status === 'revoked' ? 'revoked' : expiresAt <= at ? 'expired' : undefined;
  if (reason) {
    throw new AppError('GRANT_INACTIVE', 'The grant has ended, so nothing can be stated about it.', {
      reason,
    });
  }
}

/** @throws NOT_FOUND */
export async function getCredential(
  { db, clock }: CredentialDeps,
  caller: Caller,
  id: string,
): Promise<VerifiableCredential> {
  const row = await findCredential(db, caller, id);
  if (!row) throw notFound();
  return toCredential(row, clock());
}

/** The newest first. */
export async function listCredentials(
  { db, clock }: CredentialDeps,
  caller: Caller,
  query: CredentialQuery,
): Promise<VerifiableCredentialPage> {
  const now = clock();
  const rows = await listCredentialRows(db, caller, query, now);
  const { page, nextCursor } = pageOf(rows, byId, (row) => toCredential(row, now));
  return { credentials: page, nextCursor };
}

/**
 * Revokes a credential for good with the passports below it, and the grants live on. A repeated call changes nothing.
 * @throws NOT_FOUND
 */
export function revokeCredential(
  { db, clock }: CredentialDeps,
  caller: Caller,
  id: string,
  reason: string | undefined,
): Promise<CredentialRevocation> {
  const at = clock();
  return inTransaction(db, async (tx) => {
    const ended = (await findCredential(tx, caller, id)) ? await revokeRows(tx, caller.tenant, id, at) : [];
    const row = await findCredential(tx, caller, id);
    if (!row?.revokedAt) throw notFound();
    const fallen = await listCredentialsById(tx, caller.tenant, ended); // those below may be of other agents
    const acts = fallen.map((row) => revokedAct(row, row.id === id ? reason : undefined));
    if (acts.length > 0) await recordActs(tx, caller, acts, at);
    return { id, status: 'revoked', revokedAt: row.revokedAt.toISOString() };
  });
}

function revokedAct(row: CredentialRow, reason: string | undefined): Act {
  const type = row.format === 'agent-passport' ? ('passport.revoked' as const) : ('vc.revoked' as const);
  const data = { credentialId: row.id };
  return { type, ...concerning(row), data, ...(reason && { evidence: { reason } }) };
}

function toCredential(row: CredentialRow, now: Date): VerifiableCredential {
  const { agentId: _, format, issuedAt, expiresAt, revokedAt, ...members } = row;
  return {
    ...members,
    format: formatOf(format),
    credentialJwt: row.credential,
    status: revokedAt ? 'revoked' : expiresAt <= now ? 'expired' : 'active',
    issuedAt: issuedAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    revokedAt: revokedAt?.toISOString() ?? null,
  };
}

const formatOf = (stored: string): VerifiableCredential['format'] =>
  stored === 'sd-jwt' || stored === 'agent-passport' ? stored : 'vc-jwt';

import { parseDuration } from '@behest/protocol/durations';
import { concerning } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { recordActs } from '../../record/audit/index.ts';
import { type KeyRing, signToken } from '../../service/keys/index.ts';
import { type GrantRow, holdGrant } from '../grants/grants.queries.ts';
import {
  type CredentialRow,
  findCredential,
  insertCredential,
  listCredentialRows,
  revokeRow,
  takePlace,
} from './verifiable-credentials.repo.ts';
import {
  credentialClaims,
  GRANT_CREDENTIAL,
  type Issuer,
  type Issuing,
} from './verifiable-credentials.rules.ts';
import type {
  Credential,
  CredentialPage,
  CredentialQuery,
  NewCredential,
  Revoked,
} from './verifiable-credentials.schema.ts';
import { BY_DEFAULT, sdJwtClaims } from './verifiable-credentials.sd-jwt.rules.ts';

export interface CredentialDeps extends Issuer {
  readonly db: Executor;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
}

/**
 * Issues a credential about an active grant. It ends with the grant at the latest.
 * @throws BAD_REQUEST, NOT_FOUND, GRANT_INACTIVE
 */
export function issueCredential(
  deps: CredentialDeps,
  caller: Caller,
  asked: NewCredential,
): Promise<Credential> {
  const at = deps.clock();
  mustFit(asked);
  const seconds = lifetimeOf(asked);
  return inTransaction(deps.db, async (tx) => {
    const grant = await holdGrant(tx, caller, asked.grantId);
    if (!grant) throw notFound();
    mustBeActive(grant, at);
    const row = await signed(deps, tx, { caller, grant, asked, at, expiresAt: endOf(grant, seconds, at) });
    await insertCredential(tx, caller.tenant, row);
    const type = asked.format === 'sd-jwt' ? ('sd-jwt.issued' as const) : ('vc.issued' as const);
    const about = concerning({ ...grant, grantId: grant.id });
    await recordActs(tx, caller, [{ type, ...about, data: { credentialId: row.id } }], at);
    return toCredential({ ...row, ...caller.tenant }, at);
  });
}

/** Fields of one format only. */
function mustFit({ format, holderJwk, selectiveFields }: NewCredential): void {
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

function lifetimeOf({ expiresIn }: NewCredential): number | undefined {
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

/** In whole seconds, and never after the grant. */
function endOf({ expiresAt }: GrantRow, seconds: number | undefined, at: Date): Date {
  const wished = seconds === undefined ? expiresAt.getTime() : at.getTime() + seconds * 1000;
  return new Date(Math.floor(Math.min(wished, expiresAt.getTime()) / 1000) * 1000);
}

interface Wanted {
  readonly caller: Caller;
  readonly grant: GrantRow;
  readonly asked: NewCredential;
  readonly at: Date;
  readonly expiresAt: Date;
}

async function signed(
  deps: CredentialDeps,
  tx: Tx,
  { caller, grant, asked, at, expiresAt }: Wanted,
): Promise<Omit<CredentialRow, 'developerId'>> {
  const { tenant } = caller;
  const { id: grantId, agentId, agentDid, principalId, scopes, delegationDepth } = grant;
  const place = await takePlace(tx, tenant, newId('vcsl', at), at);
  const issuing: Issuing = {
    credentialId: newId('vc', at),
    statement: { agentDid, principalId, ...tenant, grantId, scopes, delegationDepth },
    place,
    issuedAt: at,
    expiresAt,
  };
  const isSdJwt = asked.format === 'sd-jwt';
  const credential = await (isSdJwt ? sdJwt(deps, issuing, asked) : vcJwt(deps, issuing));
  return {
    id: issuing.credentialId,
    ...{ grantId, agentId, agentDid, principalId },
    credentialType: GRANT_CREDENTIAL,
    format: asked.format,
    credential,
    statusListId: place.listId,
    statusListIdx: place.idx,
    issuedAt: at,
    expiresAt,
    revokedAt: null,
  };
}

const vcJwt = (deps: CredentialDeps, issuing: Issuing) =>
  signToken(deps.keyRing, 'vc+jwt', credentialClaims(deps, issuing), { cty: 'vc' });

async function sdJwt(
  deps: CredentialDeps,
  issuing: Issuing,
  { selectiveFields, holderJwk }: Pick<NewCredential, 'selectiveFields' | 'holderJwk'>,
): Promise<string> {
  const fields = [...new Set(selectiveFields ?? BY_DEFAULT)];
  const { claims, disclosures } = sdJwtClaims(deps, issuing, { fields, holderJwk });
  const jwt = await signToken(deps.keyRing, 'dc+sd-jwt', claims);
  return [jwt, ...disclosures, ''].join('~');
}

/** @throws NOT_FOUND */
export async function getCredential(
  { db, clock }: CredentialDeps,
  caller: Caller,
  id: string,
): Promise<Credential> {
  const row = await findCredential(db, caller, id);
  if (!row) throw notFound();
  return toCredential(row, clock());
}

/** The newest first. */
export async function listCredentials(
  { db, clock }: CredentialDeps,
  caller: Caller,
  query: CredentialQuery,
): Promise<CredentialPage> {
  const now = clock();
  const rows = await listCredentialRows(db, caller, query, now);
  const { page, nextCursor } = pageOf(rows, byId, (row) => toCredential(row, now));
  return { credentials: page, nextCursor };
}

/** Revokes a credential for good, and its grant lives on. A repeated call changes nothing. @throws NOT_FOUND */
export function revokeCredential(
  { db, clock }: CredentialDeps,
  caller: Caller,
  id: string,
  reason: string | undefined,
): Promise<Revoked> {
  const at = clock();
  return inTransaction(db, async (tx) => {
    const isFirst = (await findCredential(tx, caller, id)) && (await revokeRow(tx, caller.tenant, id, at));
    const row = await findCredential(tx, caller, id);
    if (!row?.revokedAt) throw notFound();
    if (isFirst) {
      const act = { type: 'vc.revoked', ...concerning(row), data: { credentialId: id } } as const;
      await recordActs(tx, caller, [{ ...act, ...(reason && { evidence: { reason } }) }], at);
    }
    return { id, status: 'revoked', revokedAt: row.revokedAt.toISOString() };
  });
}

function toCredential(row: CredentialRow, now: Date): Credential {
  const { agentId: _, format, issuedAt, expiresAt, revokedAt, ...members } = row;
  return {
    ...members,
    format: format === 'sd-jwt' ? 'sd-jwt' : 'vc-jwt',
    credentialJwt: row.credential,
    status: revokedAt ? 'revoked' : expiresAt <= now ? 'expired' : 'active',
    issuedAt: issuedAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    revokedAt: revokedAt?.toISOString() ?? null,
  };
}

import { compareDecimals } from '@behest/protocol/decimals';
import { parseDuration } from '@behest/protocol/durations';
import { covers } from '@behest/protocol/scopes';
import { decodeJwt } from 'jose';
import { concerning } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { AppError, agentInactive, badField, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { findAgentStanding, holdAgentStanding } from '../../accounts/agents/agents.queries.ts';
import { findGrant, type GrantRow, holdGrant } from '../../grants/grants/grants.queries.ts';
import { recordActs } from '../../record/audit/index.ts';
import { type KeyRing, signToken } from '../../service/keys/index.ts';
import { type Checked, credentialChecker, SENTENCES } from '../verifiable-credentials/index.ts';
import {
  type AuthorizationRow,
  endAuthorization,
  findAuthorization,
  insertAuthorization,
  listAuthorizationRows,
} from './wallet-authorizations.repo.ts';
import type {
  AuthorizationCode,
  AuthorizationQuery,
  IssuedWalletAuthorization,
  NewWalletAuthorization,
  Status,
  WalletAuthorization,
  WalletAuthorizationPage,
  WalletAuthorizationVerification,
} from './wallet-authorizations.schema.ts';

export interface WalletDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
  readonly issuer: string;
}

const LONGEST_SECONDS = 86_400;

/**
 * Issues an authorization for one payment. It ends with its grant.
 * @throws BAD_REQUEST, NOT_FOUND, GRANT_INACTIVE, AGENT_INACTIVE, SCOPE_INSUFFICIENT
 */
export async function issueAuthorization(
  deps: WalletDeps,
  caller: Caller,
  asked: NewWalletAuthorization,
): Promise<IssuedWalletAuthorization> {
  const at = deps.clock();
  const seconds = parseDuration(asked.expiresIn);
  if (seconds === undefined || seconds > LONGEST_SECONDS) throw badField('expiresIn', 'too_large');
  if (!isAmount(asked.maxAmount.amount)) throw badField('maxAmount.amount', 'format');
  const grant = mustBeActive(await findGrant(deps.db, caller, asked.grantId), at);
  if (!mayAuthorize(grant.scopes, asked.maxAmount.asset)) {
    throw new AppError('SCOPE_INSUFFICIENT', 'The grant does not allow authorizations of this asset.');
  }
  const id = newId('wal', at);
  const ends = Math.min(at.getTime() + seconds * 1000, grant.expiresAt.getTime());
  const expiresAt = new Date(Math.floor(ends / 1000) * 1000);
  const authorization = await signed(deps, caller, { id, grant, asked, at, expiresAt });
  const { id: grantId, agentId, agentDid, principalId } = grant;
  return inTransaction(deps.db, async (tx) => {
    const standing = await holdAgentStanding(tx, caller.tenant, agentId);
    mustBeActive(await holdGrant(tx, caller, grantId), at);
    if (standing !== 'active') throw agentInactive();
    const row = { id, grantId, agentId, agentDid, principalId, authorization, issuedAt: at, expiresAt };
    await insertAuthorization(tx, caller.tenant, { ...row, consumedAt: null, revokedAt: null });
    await recordActs(tx, caller, [actOf('issued', row)], at);
    return { id, authorization, expiresAt: expiresAt.toISOString() };
  });
}

function mustBeActive(grant: GrantRow | undefined, at: Date): GrantRow {
  if (!grant) throw notFound();
  const reason = grant.status === 'revoked' ? 'revoked' : grant.expiresAt <= at ? 'expired' : undefined;
  if (reason) throw new AppError('GRANT_INACTIVE', 'The grant has ended, so it allows nothing.', { reason });
  return grant;
}

interface Wanted {
  readonly id: string;
  readonly grant: GrantRow;
  readonly asked: NewWalletAuthorization;
  readonly at: Date;
  readonly expiresAt: Date;
}

const epochSeconds = (time: Date) => Math.floor(time.getTime() / 1000);

function signed(
  { keyRing, issuer }: WalletDeps,
  { tenant }: Caller,
  { id, grant, asked, at, expiresAt }: Wanted,
): Promise<string> {
  const { account, maxAmount, payee, nonce } = asked;
  return signToken(keyRing, 'wallet-authorization+jwt', {
    iss: issuer,
    sub: grant.principalId,
    client_id: grant.agentId,
    dev: tenant.developerId,
    grnt: grant.id,
    jti: id,
    iat: epochSeconds(at),
    exp: epochSeconds(expiresAt),
    account,
    max: maxAmount,
    ...(payee !== undefined && { payee }),
    ...(nonce !== undefined && { nonce }),
  });
}

type About = Pick<AuthorizationRow, 'id' | 'grantId' | 'agentId' | 'agentDid' | 'principalId'>;

const actOf = (what: 'issued' | 'consumed' | 'revoked', row: About) => ({
  type: `wallet.authorization.${what}` as const,
  ...concerning(row),
  data: { authorizationId: row.id },
});

/** @throws NOT_FOUND */
export async function getAuthorization(
  { db, clock }: WalletDeps,
  caller: Caller,
  id: string,
): Promise<WalletAuthorization> {
  const row = await findAuthorization(db, caller, id);
  if (!row) throw notFound();
  return toAuthorization(row, clock());
}

/** The newest first. */
export async function listAuthorizations(
  { db, clock }: WalletDeps,
  caller: Caller,
  query: AuthorizationQuery,
): Promise<WalletAuthorizationPage> {
  const now = clock();
  const rows = await listAuthorizationRows(db, caller, query);
  const { page, nextCursor } = pageOf(rows, byId, (row) => toAuthorization(row, now));
  return { authorizations: page, nextCursor };
}

/** Revokes an authorization. A call about one that has ended changes nothing. @throws NOT_FOUND */
export function revokeAuthorization(
  deps: WalletDeps,
  caller: Caller,
  id: string,
): Promise<WalletAuthorization> {
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    const row = await findAuthorization(tx, caller, id);
    if (!row) throw notFound();
    const isActive = statusOf(row, at) === 'active';
    const isFirst = isActive && (await endAuthorization(tx, caller.tenant, { id, by: 'revokedAt' }, at));
    if (isFirst) await recordActs(tx, caller, [actOf('revoked', row)], at);
    return getAuthorization({ ...deps, db: tx }, caller, id);
  });
}

/** Uses an authorization, which nobody can use again. @throws NOT_FOUND, AGENT_INACTIVE, ALREADY_CONSUMED, GONE */
export function consumeAuthorization(
  deps: WalletDeps,
  caller: Caller,
  id: string,
): Promise<WalletAuthorization> {
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    const found = await findAuthorization(tx, caller, id);
    if (!found) throw notFound();
    // Neither a stop nor a revocation of the grant comes in between.
    const standing = await holdAgentStanding(tx, caller.tenant, found.agentId);
    await holdGrant(tx, caller, found.grantId);
    const row = (await findAuthorization(tx, caller, id)) ?? found;
    const status = statusOf(row, at);
    if (status === 'active' && standing !== 'active') throw agentInactive();
    const isUsed =
      status === 'active' && (await endAuthorization(tx, caller.tenant, { id, by: 'consumedAt' }, at));
    if (!isUsed) throw await refusalOf(tx, caller, row, at);
    await recordActs(tx, caller, [actOf('consumed', row)], at);
    return getAuthorization({ ...deps, db: tx }, caller, id);
  });
}

async function refusalOf(db: Executor, caller: Caller, row: AuthorizationRow, at: Date): Promise<AppError> {
  const status = statusOf((await findAuthorization(db, caller, row.id)) ?? row, at);
  return status === 'consumed'
    ? new AppError('ALREADY_CONSUMED', 'This authorization was used before.')
    : new AppError('GONE', 'This authorization has ended; ask for a new one.', { status });
}

function toAuthorization(row: AuthorizationRow, now: Date): WalletAuthorization {
  const { id, grantId, agentId, principalId, authorization, issuedAt, expiresAt, consumedAt, revokedAt } =
    row;
  const { account, max, payee, nonce } = decodeJwt<Stated>(authorization);
  return {
    ...{ id, grantId, agentId, principalId, account, maxAmount: max },
    ...(payee !== undefined && { payee }),
    ...(nonce !== undefined && { nonce }),
    authorization,
    status: statusOf(row, now),
    issuedAt: issuedAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    consumedAt: consumedAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
  };
}

/** The claims that an authorization states. */
export interface Stated {
  readonly account: string;
  readonly max: NewWalletAuthorization['maxAmount'];
  readonly payee?: string;
  readonly nonce?: string;
}

/** Tokens have up to 18 decimals. */
const DECIMAL = /^(?:0|[1-9][0-9]{0,20})(?:\.[0-9]{1,18})?$/;
const SAFE_DIGITS = 15; // every reader of JSON reads a number of so many digits alike

/** Whether this is a positive decimal that all readers read alike. */
function isAmount(amount: number | string): boolean {
  const text = String(amount);
  if (!DECIMAL.test(text) || compareDecimals(text, '0') === 0) return false;
  return typeof amount === 'string' || text.replace('.', '').length <= SAFE_DIGITS;
}

const mayAuthorize = (scopes: readonly string[], asset: string): boolean =>
  ['wallet:authorize', `wallet:${asset}:authorize`].some((needed) =>
    scopes.some((held) => covers(held, needed)),
  );

interface AuthorizationState {
  readonly consumedAt: Date | null;
  readonly revokedAt: Date | null;
  readonly expiresAt: Date;
  readonly grantStatus: 'active' | 'revoked';
}

function statusOf({ consumedAt, revokedAt, expiresAt, grantStatus }: AuthorizationState, now: Date): Status {
  if (consumedAt) return 'consumed';
  if (revokedAt || grantStatus === 'revoked') return 'revoked';
  return expiresAt <= now ? 'expired' : 'active';
}

const OWN_SENTENCES = { ...SENTENCES, consumed: 'The authorization was used.' } as const;

/** Says of an authorization whether it is genuine and can be used now. It always answers. */
export function authorizationVerifier(deps: WalletDeps) {
  const check = credentialChecker(deps, 'wallet-authorization');
  return async (authorization: string): Promise<WalletAuthorizationVerification> => {
    const { payload, code }: Checked = check(authorization, deps.issuer);
    if (!payload) return refusal(code ?? 'malformed');
    const { jti, dev, exp, account, max, payee, nonce } = Object(payload);
    const shown = {
      ...{ id: jti, account, maxAmount: max },
      ...(payee !== undefined && { payee }),
      ...(nonce !== undefined && { nonce }),
      expiresAt: new Date(exp * 1000).toISOString(),
    };
    if (code) return { ...refusal(code), ...shown };
    const reach = { tenant: { developerId: String(dev) }, agentIds: null };
    const row = await findAuthorization(deps.db, reach, String(jti));
    if (!row) return { ...refusal('status_unavailable'), ...shown };
    const status = statusOf(row, deps.clock());
    if (status !== 'active') return { ...refusal(status), ...shown };
    const standing = await findAgentStanding(deps.db, reach.tenant, row.agentId);
    return standing === 'active' ? { valid: true, ...shown } : { ...refusal('suspended'), ...shown };
  };
}

const refusal = (code: AuthorizationCode) => ({ valid: false, error: OWN_SENTENCES[code], code });

import type { GrantStatus } from '@behest/protocol/enforcement/ports';
import type { Manifest } from '@behest/protocol/manifest/manifest';
import { type Refused, refused } from '@behest/protocol/token-refusal';
import type { VerifiedGrant } from '@behest/protocol/token-verifier';
import { type Caller, isWithin } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { findGrant } from '../../grants/grants/grants.queries.ts';
import type { FindManifest } from '../../grants/manifests/index.ts';
import {
  assess,
  findGenuine,
  type LookedUpToken,
  storedToken,
  type VerifyOwn,
} from '../../grants/tokens/index.ts';
import { listTokensOfGrant } from '../../grants/tokens/tokens.queries.ts';
import { type EnforceableRow, findEnforceable } from './enforcement.repo.ts';

export interface FactDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly verifyOwn: VerifyOwn;
  readonly findLoaded: FindManifest;
}

/** Everything that the engine asks about one call, found before it asks. */
export interface CallFacts {
  readonly token: VerifiedGrant | Refused;
  /** The grant of a token that is the caller's own and verified. */
  readonly row?: EnforceableRow;
  readonly status: GrantStatus;
  readonly manifest?: Manifest;
}

interface FactsQuery {
  readonly grantToken: string;
  readonly connector: string;
}

/**
 * Reads the database, so that the first call after a revocation is denied. A token of another developer, or of an agent
 * out of the caller's reach, is answered like one that was never issued.
 */
export async function findFacts(
  deps: FactDeps,
  caller: Caller,
  { grantToken, connector }: FactsQuery,
): Promise<CallFacts> {
  const at = deps.clock();
  const genuine = findGenuine(deps, grantToken, at);
  if (!genuine) return unusable(deps.verifyOwn(grantToken, at));
  const { claims } = genuine.verified;
  const isForeign = claims.developerId !== caller.tenant.developerId;
  const isOutOfReach = claims.agentId !== undefined && !isWithin(caller, claims.agentId);
  if (isForeign || isOutOfReach) return FOREIGN;
  const found = await findEnforceable(deps.db, caller, { tokenId: claims.tokenId, connector, at });
  const { row, reason } = assess(genuine, found, caller, at);
  if (!row) return FOREIGN;
  if (reason === 'expired' || reason === 'grant_inactive') return unusable(refused('expired'));
  return factsOf(deps, caller, connector, { verified: genuine.verified, row, reason });
}

interface Found {
  readonly verified: VerifiedGrant;
  readonly row: EnforceableRow;
  readonly reason?: LookedUpToken['reason'];
}

/** The facts of a token that has not ended by itself. */
async function factsOf(
  deps: FactDeps,
  caller: Caller,
  connector: string,
  { verified, row, reason }: Found,
): Promise<CallFacts> {
  const manifest = await manifestOf(deps, caller, connector, row);
  return { token: verified, row, status: statusOf(row, reason), ...(manifest && { manifest }) };
}

const unusable = (token: CallFacts['token']): CallFacts => ({ token, status: 'active' });
const FOREIGN = unusable(refused('developer_mismatch'));

function statusOf({ revokedReason }: EnforceableRow, reason: LookedUpToken['reason']): GrantStatus {
  if (reason === 'agent_inactive') return 'suspended';
  if (reason === 'revoked') return revokedReason === 'parent' ? 'parent_revoked' : 'revoked';
  return 'active';
}

async function manifestOf(
  { db, findLoaded }: FactDeps,
  { tenant }: Caller,
  connector: string,
  { manifestRevision: revision }: EnforceableRow,
): Promise<Manifest | undefined> {
  return revision === null ? undefined : findLoaded({ ...tenant, db, connector, revision });
}

interface StoredDeps extends FactDeps {
  readonly issuer: string;
}

/** The facts of a token that is named and not shown. An unknown token, a foreign one and one that has ended are alike. */
export async function findStoredFacts(
  deps: StoredDeps,
  caller: Caller,
  asked: { readonly tokenId: string; readonly connector: string },
): Promise<CallFacts> {
  const row = await findEnforceable(deps.db, caller, { ...asked, at: deps.clock() });
  return row ? factsOfRow(deps, caller, asked.connector, row) : UNKNOWN_TOKEN;
}

/** The facts of a grant before it is used: those of a token that is not narrower than it. */
export async function findGrantFacts(
  deps: StoredDeps,
  caller: Caller,
  { grantId, connector }: { readonly grantId: string; readonly connector: string },
): Promise<CallFacts> {
  const grant = await findGrant(deps.db, caller, grantId);
  const page = grant && (await listTokensOfGrant(deps.db, caller.tenant, grantId, { limit: 1 }));
  const newest = page?.rows[0];
  const at = deps.clock();
  const row = newest && (await findEnforceable(deps.db, caller, { tokenId: newest.id, connector, at }));
  if (!grant || !row) return UNKNOWN_TOKEN;
  const { scopes, audience, authorizationDetails, issuedAt, expiresAt } = grant;
  const whole = { scopes, audience, authorizationDetails, keyThumbprint: null, hasFewerScopes: false };
  const times = { tokenIssuedAt: issuedAt, tokenExpiresAt: expiresAt, tokenRevokedAt: null };
  return factsOfRow(deps, caller, connector, { ...row, ...whole, ...times });
}

async function factsOfRow(
  deps: StoredDeps,
  caller: Caller,
  connector: string,
  found: EnforceableRow,
): Promise<CallFacts> {
  const now = deps.clock();
  if (found.tokenExpiresAt <= now || found.expiresAt <= now) return UNKNOWN_TOKEN;
  const verified = storedToken(found, deps.issuer, caller);
  const { row, reason } = assess({ verified, isExpired: false }, withWholeSeconds(found), caller, now);
  return row ? factsOf(deps, caller, connector, { verified, row, reason }) : UNKNOWN_TOKEN;
}

/** A token states whole seconds, and a grant may end between two. */
const withWholeSeconds = (row: EnforceableRow): EnforceableRow => ({
  ...row,
  tokenExpiresAt: new Date(Math.floor(row.tokenExpiresAt.getTime() / 1000) * 1000),
});

/** The facts of no token that the caller could mean. */
export const UNKNOWN_TOKEN: CallFacts = { token: refused('claims_inconsistent'), status: 'active' };

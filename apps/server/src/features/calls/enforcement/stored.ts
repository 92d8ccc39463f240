import { refused } from '@behest/protocol/token-refusal';
import type { Caller } from '../../../platform/caller.ts';
import { findGrant } from '../../grants/grants/grants.queries.ts';
import { assess, storedToken } from '../../grants/tokens/index.ts';
import { listTokensOfGrant } from '../../grants/tokens/tokens.queries.ts';
import { type EnforceableRow, findEnforceable } from './enforcement.repo.ts';
import { type CallFacts, type FactDeps, factsOf } from './facts.ts';

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
  return row ? factsOfRow(deps, caller, asked.connector, row) : NOBODYS;
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
  if (!grant || !row) return NOBODYS;
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
  if (found.tokenExpiresAt <= now || found.expiresAt <= now) return NOBODYS;
  const verified = storedToken(found, deps.issuer, caller);
  const { row, reason } = assess({ verified, isExpired: false }, withWholeSeconds(found), caller, now);
  return row ? factsOf(deps, caller, connector, { verified, row, reason }) : NOBODYS;
}

/** A token states whole seconds, and a grant may end between two. */
const withWholeSeconds = (row: EnforceableRow): EnforceableRow => ({
  ...row,
  tokenExpiresAt: new Date(Math.floor(row.tokenExpiresAt.getTime() / 1000) * 1000),
});

/** The facts of no token that the caller could mean. */
export const NOBODYS: CallFacts = { token: refused('claims_inconsistent'), status: 'active' };

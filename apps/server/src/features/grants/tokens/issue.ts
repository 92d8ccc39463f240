import { writeAmount } from '@behest/protocol/amounts';
import { asciiJson } from '@behest/protocol/ascii-json';
import { authenticationColumns } from '@behest/protocol/authentication';
import { storedEntries, toolsEntries } from '@behest/protocol/caps-lineage';
import { budgetEntry, grantClaims, MAX_PAYLOAD_BYTES } from '@behest/protocol/claims';
import { type Act, concerning } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { badField, oauthRefusal } from '../../../platform/errors.ts';
import { hashOf, newId, newSecret } from '../../../platform/ids.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { type CredentialDeps, issuedAct, signCredential } from '../../extras/verifiable-credentials/index.ts';
import type { NewCredentialRow } from '../../extras/verifiable-credentials/verifiable-credentials.queries.ts';
import { signToken } from '../../service/keys/index.ts';
import type { NewAllocationRow } from '../budgets/budgets.queries.ts';
import { budgetAllocated } from '../budgets/index.ts';
import { pinsInToken } from '../manifests/index.ts';
import type { DecideDeps } from '../policies/index.ts';
import { limitingResources } from '../resources/resources.queries.ts';
import type { OverlapDeps } from './refresh.ts';
import type { HeldBudget, NewGrant, NewRefreshToken, NewToken } from './tokens.repo.ts';
import {
  audClaim,
  audiencesOf,
  authenticationClaims,
  detailsWithin,
  type RequestedToken,
  recordedDetails,
  type TokenOverrides,
  tokenOverrides,
  wholeSecond,
} from './tokens.rules.ts';
import type { CodeExchange, ExchangedTokens, IssuedTokens } from './tokens.schema.ts';

export interface TokenDeps extends DecideDeps, CredentialDeps, OverlapDeps {
  readonly store: EphemeralStore;
  readonly maxGrantLifetimeSeconds: number;
  readonly reuseGraceSeconds: number;
}

/** The grant for which tokens are issued, stored already or about to be stored. */
export interface IssuableGrant extends HeldBudget {
  readonly id: string;
  readonly agentId: string;
  readonly agentDid: string;
  readonly principalId: string;
  readonly scopes: string[];
  readonly audience: string | null;
  readonly purpose: string | null;
  readonly authorizationDetails: unknown;
  /** The manifests under which the person agreed. */
  readonly manifests: unknown;
  readonly tokenSeconds: number;
  readonly expiresAt: Date;
  readonly parentGrantId: string | null;
  readonly delegationDepth: number;
  readonly delegatedBy: readonly string[];
}

interface Issue {
  readonly token: NewToken;
  readonly refresh: NewRefreshToken;
  readonly act: Act;
  readonly answer: IssuedTokens;
}

const REFRESH_SECONDS = 30 * 86_400; // at most: a refresh token ends with its grant

/**
 * Makes and signs a grant token and a refresh token. Nothing is stored yet, because signing takes longer than
 * any lock may be held. @param predecessorId the refresh token that is spent for the new one, if any
 */
export async function issueTokens(
  deps: TokenDeps,
  caller: Caller,
  whole: IssuableGrant,
  at: Date,
  predecessorId: string | null,
  form: TokenOverrides = {},
): Promise<Issue> {
  const grant = formed(whole, form);
  const grantEnds = grant.expiresAt.getTime();
  const expiresAt = wholeSecond(Math.min(at.getTime() + grant.tokenSeconds * 1000, grantEnds));
  const refreshExpiresAt = new Date(Math.min(at.getTime() + REFRESH_SECONDS * 1000, grantEnds));
  const tokenId = newId('tok', at);
  const refreshId = newId('ref', at);
  const refreshToken = `${refreshId}${newSecret()}`;
  const isNew = predecessorId === null;
  const grantToken = await signGrantToken(deps, caller, grant, {
    tokenId,
    issuedAt: at,
    expiresAt,
    isNew,
    ...(form.keyThumbprint !== undefined && { keyThumbprint: form.keyThumbprint }),
    ...authenticationClaims(form.authentication),
  });

  const { id: grantId, agentId, principalId, scopes, purpose } = grant;
  const about = concerning({ ...grant, grantId });
  const refreshed = predecessorId !== null;
  const entries = storedEntries(grant.authorizationDetails);
  const data = { tokenId, scopes, expiresAt: expiresAt.toISOString(), refreshed };
  return {
    token: {
      id: tokenId,
      grantId,
      issuedAt: at,
      expiresAt,
      revokedAt: null,
      scopes: form.scopes ? [...form.scopes] : null,
      audience: form.audience ?? null,
      authorizationDetails: form.details ? JSON.parse(JSON.stringify(form.details)) : null,
      keyThumbprint: form.keyThumbprint ?? null,
      ...authenticationColumns(form.authentication),
      actingResourceId: null,
      subjectTokenId: null,
    },
    refresh: {
      id: refreshId,
      grantId,
      hash: hashOf(refreshToken),
      predecessorId,
      issuedAt: at,
      expiresAt: refreshExpiresAt,
      spentAt: null,
      keyThumbprint: form.refreshKeyThumbprint ?? null,
    },
    act: { type: 'token.issued', ...about, data },
    answer: {
      grantToken,
      tokenType: 'Bearer',
      expiresAt: expiresAt.toISOString(),
      refreshToken,
      refreshExpiresAt: refreshExpiresAt.toISOString(),
      grantId,
      grantExpiresAt: grant.expiresAt.toISOString(),
      agentId,
      principalId,
      scopes,
      ...(grant.audience !== null && { audience: grant.audience }),
      ...(purpose !== null && { purpose }),
      ...(entries.length > 0 && { authorizationDetails: toolsEntries(entries) }),
      ...budgetOf(grant),
      ...(caller.mode === 'sandbox' && { sandbox: true as const }),
    },
  };
}

/** The grant as one token states it. */
function formed(grant: IssuableGrant, { scopes, audience, details: own }: TokenOverrides): IssuableGrant {
  const details = scopes && detailsWithin(own ?? grant.authorizationDetails, scopes);
  return {
    ...grant,
    ...(scopes && { scopes: [...scopes], authorizationDetails: details }),
    ...(audience !== undefined && { audience }),
  };
}

interface Signing {
  readonly tokenId: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly isNew: boolean;
  readonly keyThumbprint?: string;
  readonly authenticatedAt?: Date;
  readonly authenticationMethods?: readonly string[];
}

async function signGrantToken(
  { keyRing, issuer, issuesLegacyClaims }: TokenDeps,
  { tenant, mode }: Caller,
  grant: IssuableGrant,
  { isNew, ...own }: Signing,
): Promise<string> {
  const claims = grantClaims(
    {
      ...own,
      ...tenant,
      issuer,
      principalId: grant.principalId,
      agentId: grant.agentId,
      agentDid: grant.agentDid,
      delegatedBy: grant.delegatedBy,
      delegationDepth: grant.delegationDepth,
      scopes: grant.scopes,
      grantId: grant.id,
      ...(grant.audience !== null && { audience: audClaim(grant.audience) }),
      ...(grant.parentGrantId !== null && { parentGrantId: grant.parentGrantId }),
      authorizationDetails: [...storedEntries(grant.authorizationDetails), ...budgetEntries(grant)],
      ...pinsInToken(grant.manifests),
      sandbox: mode === 'sandbox',
    },
    { legacy: issuesLegacyClaims },
  );
  // A grant that fits now fits at each refresh, also with a budget that it gets later.
  const reserved = isNew && grant.budgetRemaining === null ? BUDGET_BYTES : 0;
  if (asciiJson(claims).length > MAX_PAYLOAD_BYTES - reserved) {
    throw badField(
      'authorizationDetails',
      'too_long',
      'The grant does not fit into a token; send fewer scopes or details.',
    );
  }
  return signToken(keyRing, 'at+jwt', claims);
}

/** The part of a token that its budget can take: the entry of the details, and the claim of older readers. */
const BUDGET_BYTES = 160;

/** The rest of a budget states the past: each debit decides for itself. */
function budgetEntries({ budgetRemaining, budgetCurrency }: HeldBudget) {
  if (budgetRemaining === null || budgetCurrency === null) return [];
  return [budgetEntry(writeAmount(budgetRemaining), budgetCurrency)];
}

function budgetOf({ budgetRemaining, budgetCurrency, budgetInitial }: HeldBudget) {
  if (budgetRemaining === null || budgetCurrency === null) return {};
  const own = budgetInitial !== null && { amount: writeAmount(budgetInitial) };
  return { budget: { ...own, remaining: writeAmount(budgetRemaining), currency: budgetCurrency } };
}

/** The act of an allocation that is made with its grant. */
export const allocated = (grant: IssuableGrant, allocation: NewAllocationRow | null): Act[] =>
  allocation ? [budgetAllocated(concerning({ ...grant, grantId: grant.id }), allocation)] : [];

/** @param grant the grant that is about to be stored */
export function grantCreated(grant: NewGrant & IssuableGrant): Act {
  const { scopes, audience, parentGrantId } = grant;
  const about = concerning({ ...grant, grantId: grant.id });
  const data = {
    scopes,
    expiresAt: grant.expiresAt.toISOString(),
    ...(audience && { audience }),
    consentMethod: grant.consentMethod,
    ...(grant.isUnverified && { unverified: true as const }),
    ...(parentGrantId && { parentGrantId }),
    delegationDepth: grant.delegationDepth,
    ...recordedDetails(grant.authorizationDetails),
  };
  return { type: 'grant.created', ...about, data };
}

/**
 * The columns of a new grant that was not delegated.
 * @param seconds the lifetime of the grant
 */
export function newRoot(seconds: number, at: Date) {
  const id = newId('grnt', at);
  return {
    id,
    rootGrantId: id,
    parentGrantId: null,
    parentTokenId: null,
    delegationDepth: 0,
    delegatedBy: [],
    status: 'active' as const,
    issuedAt: at,
    expiresAt: new Date(at.getTime() + seconds * 1000),
    revokedAt: null,
    revokedReason: null,
    expiryAnnouncedAt: null,
    lastUsedAt: null,
    authenticatedAt: null,
    authMethods: null,
  };
}

/** The credential about a grant that is about to be stored, which is stored with it. */
interface GrantCredential {
  readonly credential: NewCredentialRow | null;
  readonly acts: readonly Act[];
  readonly members: Pick<ExchangedTokens, 'verifiableCredential' | 'sdJwtCredential'>;
}

/** Signs the credential that the caller asked for with the tokens. It ends with the grant. */
export async function credentialFor(
  deps: CredentialDeps,
  caller: Caller,
  grant: NewGrant & IssuableGrant,
  { credentialFormat: asked, at }: Pick<CodeExchange, 'credentialFormat'> & { readonly at: Date },
): Promise<GrantCredential> {
  if (asked === 'jwt') return { credential: null, acts: [], members: {} };
  const format = asked === 'sd-jwt' ? 'sd-jwt' : 'vc-jwt';
  const credential = await signCredential(deps, caller, { grant, format, at });
  const text = credential.credential;
  const members = format === 'sd-jwt' ? { sdJwtCredential: text } : { verifiableCredential: text };
  return { credential, acts: [issuedAct(credential)], members };
}

/**
 * The form of a token for an OAuth client; a native call has none. A resource may take bound tokens only: then the
 * client has to send a proof of its key.
 * @throws invalid_scope, invalid_target, invalid_dpop_proof
 */
export async function overridesFor(
  { db, issuer }: Pick<TokenDeps, 'db' | 'issuer'>,
  { tenant }: Caller,
  requested: RequestedToken | undefined,
  grant: Parameters<typeof tokenOverrides>[1],
): Promise<TokenOverrides> {
  const form = tokenOverrides(requested, grant, issuer);
  const audience = form.audience ?? grant.audience ?? issuer;
  if (!requested || requested.keyThumbprint !== undefined || audience === issuer) return form;
  const resources = await limitingResources(db, tenant, audiencesOf(audience));
  if (resources.some(({ dpopRequired }) => dpopRequired)) {
    throw oauthRefusal('invalid_dpop_proof', 'The resource takes bound tokens alone: send a `DPoP` proof.');
  }
  return form;
}

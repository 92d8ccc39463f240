import { boolean } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';
import { type Act, concerning } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { newId } from '../../../platform/ids.ts';
import { definePart } from '../../../platform/parts.ts';
import { findPasskeyEvidence } from '../../people/passkeys/index.ts';
import { type KeyRing, signToken } from '../../service/keys/index.ts';
import { BY_DEFAULT, sdJwtClaims } from './sd-jwt.rules.ts';
import type { NewCredentialRow } from './verifiable-credentials.queries.ts';
import { findFreePlace, keepCredential } from './verifiable-credentials.repo.ts';
import {
  credentialClaims,
  GRANT_CREDENTIAL,
  type Issuer,
  type Issuing,
  legacyMember,
  markOf,
} from './verifiable-credentials.rules.ts';
import type { NewVerifiableCredential } from './verifiable-credentials.schema.ts';

/** Whether what the service signs also has the claims that older clients read. */
export const legacyClaims = definePart<boolean>('whether tokens have the claims of before 0.6');

/** Settings of everything that signs claims which older clients read. */
export const legacySettings = {
  GRANT_TOKEN_LEGACY_CLAIMS: defaulted(
    boolean,
    'true',
    'Whether new grant tokens also carry the claim names used before 0.6, and W3C credentials the member `vc`.',
  ),
};

export interface CredentialDeps extends Issuer {
  readonly db: Executor;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
  readonly issuesLegacyClaims: boolean;
}

/** The grant that a credential is about, stored already or about to be stored. */
interface StatedGrant {
  readonly id: string;
  /** Null for a part of another grant, to which no person was asked. */
  readonly authRequestId: string | null;
  readonly agentId: string;
  readonly agentDid: string;
  readonly principalId: string;
  readonly scopes: readonly string[];
  readonly delegationDepth: number;
  readonly expiresAt: Date;
}

interface Wanted extends Pick<NewVerifiableCredential, 'format' | 'selectiveFields' | 'holderJwk'> {
  readonly grant: StatedGrant;
  readonly at: Date;
  /** Undefined for as long as the grant. */
  readonly seconds?: number | undefined;
}

/**
 * Makes and signs a credential. Nothing is stored yet, because signing takes longer than any lock may be held: the
 * caller stores it, and signs again when its place is taken meanwhile.
 */
export async function signCredential(
  deps: CredentialDeps,
  caller: Pick<Caller, 'tenant' | 'mode'>,
  { grant, at, seconds, format, ...options }: Wanted,
): Promise<NewCredentialRow> {
  const { id: grantId, agentId, agentDid, principalId, delegationDepth } = grant;
  const { tenant } = caller;
  const place = await newPlace(deps, tenant, at);
  const issuing: Issuing = {
    credentialId: newId('vc', at),
    statement: {
      ...{ agentDid, principalId, ...tenant, grantId, scopes: grant.scopes, delegationDepth },
      ...markOf(caller),
    },
    place,
    issuedAt: at,
    expiresAt: endOf(grant, seconds, at),
  };
  const credential =
    format === 'sd-jwt'
      ? await sdJwt(deps, issuing, options)
      : await vcJwt(deps, { ...issuing, evidence: await evidenceOf(deps, tenant, grant) });
  return {
    id: issuing.credentialId,
    ...{ grantId, agentId, agentDid, principalId, format, credential },
    credentialType: GRANT_CREDENTIAL,
    statusListId: place.listId,
    statusListIdx: place.idx,
    issuedAt: at,
    expiresAt: issuing.expiresAt,
    revokedAt: null,
  };
}

/** A place that is free now. Another credential may have it when the one that names it is stored. */
export const newPlace = ({ db }: Pick<CredentialDeps, 'db'>, tenant: Caller['tenant'], at: Date) =>
  findFreePlace(db, tenant, newId('vcsl', at));

/** Stores a signed credential. @returns false when its place is taken, and then nothing is stored */
export const storeCredential = (
  tx: Tx,
  { tenant }: Pick<Caller, 'tenant'>,
  credential: NewCredentialRow,
  at: Date,
): Promise<boolean> => keepCredential(tx, tenant, credential, at);

/** In whole seconds, and never after the grant. */
export function endOf(
  { expiresAt }: Pick<StatedGrant, 'expiresAt'>,
  seconds: number | undefined,
  at: Date,
): Date {
  const wished = seconds === undefined ? expiresAt.getTime() : at.getTime() + seconds * 1000;
  return new Date(Math.floor(Math.min(wished, expiresAt.getTime()) / 1000) * 1000);
}

/** The passkey with which the person approved the grant, if they did with one. */
async function evidenceOf(
  { db }: CredentialDeps,
  tenant: Caller['tenant'],
  { authRequestId }: StatedGrant,
): Promise<Issuing['evidence']> {
  const found = authRequestId === null ? undefined : await findPasskeyEvidence(db, tenant, authRequestId);
  return found && [{ type: 'PasskeyAssertion', ...found, verifiedAt: found.verifiedAt.toISOString() }];
}

function vcJwt(deps: CredentialDeps, issuing: Issuing): Promise<string> {
  const claims = credentialClaims(deps, issuing);
  const older = deps.issuesLegacyClaims && { vc: legacyMember(claims) };
  return signToken(deps.keyRing, 'vc+jwt', { ...claims, ...older }, { cty: 'vc' });
}

async function sdJwt(
  deps: CredentialDeps,
  issuing: Issuing,
  { selectiveFields, holderJwk }: Pick<NewVerifiableCredential, 'selectiveFields' | 'holderJwk'>,
): Promise<string> {
  const fields = [...new Set(selectiveFields ?? BY_DEFAULT)];
  const { claims, disclosures } = sdJwtClaims(deps, issuing, { fields, holderJwk });
  const jwt = await signToken(deps.keyRing, 'dc+sd-jwt', claims);
  return [jwt, ...disclosures, ''].join('~');
}

/** The act of a credential that is stored. */
export function issuedAct(credential: NewCredentialRow): Act {
  const type = credential.format === 'sd-jwt' ? ('sd-jwt.issued' as const) : ('vc.issued' as const);
  return { type, ...concerning(credential), data: { credentialId: credential.id } };
}

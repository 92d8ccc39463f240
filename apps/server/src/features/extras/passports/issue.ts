import { parseDuration } from '@behest/protocol/durations';
import { type InvalidGrantReason, invalidGrantReasons } from '@behest/protocol/errors';
import { concerning } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { AppError, badField } from '../../../platform/errors.ts';
import { newId, newSecret } from '../../../platform/ids.ts';
import { holdAgentStanding } from '../../accounts/agents/agents.queries.ts';
import { findRestOfBudget } from '../../grants/budgets/budgets.queries.ts';
import { findGrant, type GrantRow, holdGrant } from '../../grants/grants/grants.queries.ts';
import { recordActs } from '../../record/audit/index.ts';
import { signToken } from '../../service/keys/index.ts';
import {
  type CredentialDeps,
  endOf,
  issuerDid,
  markOf,
  newPlace,
  PASSPORT_CREDENTIAL,
  plainCredential,
  proofOf,
  type Stating,
  securedClaims,
  storeCredential,
  uriOf,
} from '../verifiable-credentials/index.ts';
import type { NewCredentialRow } from '../verifiable-credentials/verifiable-credentials.queries.ts';
import {
  findPassport,
  holdPassport,
  insertPassport,
  type PassportRow,
  pseudonymOf,
} from './passports.repo.ts';
import {
  beyondBudget,
  beyondParent,
  credentialIdOf,
  type Extent,
  missingScopes,
  readLimit,
} from './passports.rules.ts';
import type { IssuedPassport, NewPassport, PassportCredential } from './passports.schema.ts';

export interface PassportDeps extends CredentialDeps {
  readonly maxExpiryHours: number;
}

const DEFAULT_SECONDS = 86_400;

/**
 * Issues a passport, which is a credential about an active grant. It ends with the grant and with its parent.
 * @throws BAD_REQUEST, INVALID_EXPIRY, INVALID_GRANT, INVALID_AGENT, SCOPE_INSUFFICIENT, AMOUNT_EXCEEDS_BUDGET, PARENT_EXCEEDED
 */
export async function issuePassport(
  deps: PassportDeps,
  caller: Caller,
  asked: NewPassport,
): Promise<IssuedPassport> {
  const at = deps.clock();
  const seconds = lifetimeOf(deps, asked);
  const amount = readLimit(asked.maxTransactionAmount.amount);
  if (amount === undefined) throw badField('maxTransactionAmount.amount', 'format');
  const grant = mustBeActive(await findGrant(deps.db, caller, asked.grantId), at);
  await mustBeAllowed(deps, caller, grant, asked, amount);
  const parentId = asked.parentPassportId && credentialIdOf(asked.parentPassportId);
  const parent = parentId ? await findPassport(deps.db, caller, parentId) : undefined;
  const ends = endOf(grant, seconds ?? Math.min(DEFAULT_SECONDS, deps.maxExpiryHours * 3600), at);
  const endsWithParent = parent && seconds === undefined && parent.expiresAt < ends;
  const expiresAt = endsWithParent ? parent.expiresAt : ends;
  const { currency } = asked.maxTransactionAmount;
  const categories = [...new Set(asked.allowedMPPCategories)];
  if (parentId) mustBePart(parent, { categories, amount, currency, expiresAt }, at);

  const made = await signed(deps, caller, { grant, asked, categories, at, expiresAt });
  const { row, credential } = made;
  const isKept = await inTransaction(deps.db, async (tx) => {
    const standing = await holdAgentStanding(tx, caller.tenant, grant.agentId);
    mustBeActive(await holdGrant(tx, caller, grant.id), at);
    if (standing !== 'active') {
      throw new AppError('INVALID_AGENT', 'The agent is suspended; resume it first.');
    }
    if (parentId) mustBeActivePassport(await holdPassport(tx, caller, parentId), at);
    if (!(await storeCredential(tx, caller, row, at))) return false;
    const { proof = null } = credential;
    await insertPassport(tx, caller.tenant, {
      ...{ id: row.id, categories, amount, currency, parentId: parentId ?? null, proof },
    });
    const act = { type: 'passport.issued' as const, ...concerning(row), data: { credentialId: row.id } };
    await recordActs(tx, caller, [act], at);
    return true;
  });
  if (!isKept) return issuePassport(deps, caller, asked);
  return {
    passportId: credential.id,
    credential,
    encodedCredential: Buffer.from(JSON.stringify(credential)).toString('base64url'),
    passportJwt: row.credential,
    expiresAt: expiresAt.toISOString(),
  };
}

function lifetimeOf({ maxExpiryHours }: PassportDeps, { expiresIn }: NewPassport): number | undefined {
  if (expiresIn === undefined) return undefined;
  const seconds = parseDuration(expiresIn);
  if (seconds === undefined) throw badField('expiresIn', 'format');
  if (seconds > maxExpiryHours * 3600) {
    throw new AppError('INVALID_EXPIRY', `A passport lives ${maxExpiryHours} hours at most.`, {
      maxExpiryHours,
    });
  }
  return seconds;
}

function mustBeActive(grant: GrantRow | undefined, at: Date): GrantRow {
  if (!grant) throw invalidGrant('grant_unknown');
  if (grant.status === 'revoked') throw invalidGrant('grant_revoked');
  if (grant.expiresAt <= at) throw invalidGrant('grant_expired');
  return grant;
}

const invalidGrant = (reason: InvalidGrantReason) =>
  new AppError('INVALID_GRANT', invalidGrantReasons[reason], { reason });

async function mustBeAllowed(
  { db }: PassportDeps,
  { tenant }: Caller,
  grant: GrantRow,
  { agentId, allowedMPPCategories, maxTransactionAmount: { currency } }: NewPassport,
  amount: string,
): Promise<void> {
  if (grant.agentId !== agentId) {
    throw new AppError('INVALID_AGENT', 'The grant is for another agent.');
  }
  const scopes = missingScopes(grant.scopes, allowedMPPCategories);
  if (scopes.length > 0) {
    throw new AppError('SCOPE_INSUFFICIENT', 'The grant does not have the scopes of these categories.', {
      scopes,
    });
  }
  const rest = await findRestOfBudget(db, tenant, grant.id);
  const reason = beyondBudget({ amount, currency }, rest);
  if (reason) {
    const message =
      reason === 'insufficient'
        ? 'The amount is more than is left of the budget of the grant.'
        : `The amount is in ${currency}, and the budget of the grant in ${rest?.currency}; name an amount in ${rest?.currency}.`;
    throw new AppError('AMOUNT_EXCEEDS_BUDGET', message, {
      reason,
      currency,
      budgetCurrency: rest?.currency,
    });
  }
}

/** @throws PARENT_EXCEEDED */
function mustBePart(parent: PassportRow | undefined, child: Extent, at: Date): void {
  const exceeded = beyondParent(mustBeActivePassport(parent, at), child);
  if (exceeded) throw parentExceeded(exceeded);
}

function mustBeActivePassport(passport: PassportRow | undefined, at: Date): PassportRow {
  if (!passport || passport.revokedAt || passport.expiresAt <= at) throw parentExceeded('parent');
  return passport;
}

const parentExceeded = (reason: string) =>
  new AppError('PARENT_EXCEEDED', 'A passport is a part of its parent, which has to be valid.', { reason });

interface Wanted {
  readonly grant: GrantRow;
  readonly asked: NewPassport;
  readonly categories: NewPassport['allowedMPPCategories'];
  readonly at: Date;
  readonly expiresAt: Date;
}

async function signed(
  deps: PassportDeps,
  caller: Caller,
  { grant, asked, categories, at, expiresAt }: Wanted,
) {
  const { tenant } = caller;
  const { maxTransactionAmount, paymentRails, parentPassportId } = asked;
  const { id: grantId, agentId, agentDid, principalId, delegationDepth } = grant;
  const pseudonym = await pseudonymOf(deps.db, tenant, { principalId, pseudonym: newSecret() });
  const place = await newPlace(deps, tenant, at);
  const credentialId = newId('vc', at);
  const subject = {
    id: agentDid,
    type: 'AIAgent' as const,
    humanPrincipal: `urn:behest:principal:${pseudonym}`,
    organizationDID: issuerDid(deps),
    ...{ grantId, maxTransactionAmount, paymentRails, delegationDepth },
    allowedMPPCategories: categories,
    ...(parentPassportId && { parentPassportId }),
    ...markOf(caller),
  };
  const stating: Stating = {
    ...{ credentialId, subject, place, issuedAt: at, expiresAt },
    type: PASSPORT_CREDENTIAL,
    uri: uriOf(PASSPORT_CREDENTIAL, credentialId),
  };
  const plain = plainCredential(deps, stating);
  const credential: PassportCredential = {
    ...plain,
    credentialSubject: subject,
    ...proofOf(deps, plain, at),
  };
  const row: NewCredentialRow = {
    id: credentialId,
    ...{ grantId, agentId, agentDid, principalId },
    credentialType: PASSPORT_CREDENTIAL,
    format: 'agent-passport',
    credential: await signToken(deps.keyRing, 'agent-passport+jwt', securedClaims(deps, stating)),
    statusListId: place.listId,
    statusListIdx: place.idx,
    issuedAt: at,
    expiresAt,
    revokedAt: null,
  };
  return { row, credential };
}

import type { IssuedEntry } from '@behest/protocol/caps-lineage';
import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';
import { principalInactive } from '../../../platform/errors.ts';
import { limitOf, overQuota } from '../../accounts/quotas/index.ts';
import type { GrantRow } from '../grants/grants.queries.ts';
import type { ConsentPins } from '../manifests/index.ts';
import { grantCreated, type IssuableGrant, issueTokens, newRoot, type TokenDeps } from './issue.ts';
import type { NewGrant } from './tokens.repo.ts';
import type { TokenOverrides } from './tokens.rules.ts';
import { invalidGrant } from './tokens.rules.ts';
import type { IssuedTokens } from './tokens.schema.ts';
import { type AssertableAgent, type AssertionWrite, findAssertable, writeAssertion } from './write.repo.ts';

/** The most that a client gets from a person on the word of an identity provider. */
export interface AssertedGrant {
  readonly agentId: string;
  readonly agentDid: string;
  readonly principalId: string;
  readonly scopes: readonly string[];
  readonly audience: string | null;
  readonly details: readonly IssuedEntry[];
  readonly manifests: ConsentPins | null;
  readonly tokenSeconds: number;
  readonly seconds: number;
}

export type Assertable = NewGrant & IssuableGrant;

/** JSON of this service's own, in the type of its column. */
const jsonOf = (value: unknown) => JSON.parse(JSON.stringify(value));

const NO_BUDGET = { budgetRemaining: null, budgetCurrency: null, budgetInitial: null };

/** The agent that is to get a grant, with the facts that decide about it. */
export const assertableAgent = (
  { db }: Pick<TokenDeps, 'db'>,
  { tenant }: Caller,
  agentId: string,
): Promise<AssertableAgent | undefined> => findAssertable(db, tenant, agentId);

/** A grant that is about to be stored. */
export function newAsserted(asserted: AssertedGrant, at: Date): Assertable {
  const { scopes, details, manifests, seconds, ...others } = asserted;
  return {
    ...others,
    ...NO_BUDGET,
    ...newRoot(seconds, at),
    scopes: [...scopes],
    authorizationDetails: details.length > 0 ? jsonOf(details) : null,
    manifests: manifests && jsonOf(manifests),
    authRequestId: null,
    purpose: null,
    consentMethod: 'idp',
    policyId: null,
    isUnverified: false,
  };
}

/** A grant that is stored already. */
export const heldAsserted = (row: GrantRow): Assertable => ({ ...row, ...NO_BUDGET });

interface Asserting {
  readonly grant: Assertable;
  readonly isNew: boolean;
  /** The lifetime of this token. */
  readonly tokenSeconds: number;
  readonly form: TokenOverrides;
  /** The provider and its assertion, for the audit log. */
  readonly evidence: Readonly<Record<string, unknown>>;
  readonly policiesVersion: string;
}

/** The answer without a refresh token. */
export type AssertedTokens = Omit<IssuedTokens, 'refreshToken' | 'refreshExpiresAt'> & {
  readonly refreshToken: null;
  readonly refreshExpiresAt: null;
};

export interface PreparedAssertion {
  readonly write: AssertionWrite;
  readonly acts: readonly Act[];
  readonly answer: AssertedTokens;
}

/** Makes and signs the token. Nothing is stored yet. */
export async function prepareAsserted(
  deps: TokenDeps,
  caller: Caller,
  { grant, isNew, tokenSeconds, form, evidence, policiesVersion }: Asserting,
  at: Date,
): Promise<PreparedAssertion> {
  const issue = await issueTokens(deps, caller, { ...grant, tokenSeconds }, at, null, form);
  const grantLimit = limitOf(deps.quotas, caller, 'active_grants');
  const created = isNew ? [{ ...grantCreated(grant), evidence }] : [];
  return {
    write: { grant, isNew, token: issue.token, policiesVersion, grantLimit },
    acts: [...created, { ...issue.act, evidence }],
    // The next token needs an assertion of its own.
    answer: { ...issue.answer, refreshToken: null, refreshExpiresAt: null },
  };
}

/**
 * Writes the token, and its grant where it is new. The caller records the acts.
 * @returns whether it was written: not, when a fact is no longer as it was read
 * @throws INVALID_GRANT, PRINCIPAL_INACTIVE, PLAN_LIMIT_EXCEEDED
 */
export async function writeAsserted(
  tx: Tx,
  caller: Caller,
  { write }: PreparedAssertion,
  at: Date,
): Promise<boolean> {
  const refused = await writeAssertion(tx, caller.tenant, at, write);
  if (refused === 'over_quota') throw overQuota(caller, 'active_grants', write.grantLimit);
  if (refused === 'principal_inactive') throw principalInactive();
  if (refused === 'agent_inactive') throw invalidGrant('agent_inactive');
  return refused === null;
}

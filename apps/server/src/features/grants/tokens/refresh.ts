import { timingSafeEqual } from 'node:crypto';
import { type ActSubject, concerning } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import type { RenewalCause } from '../../../platform/db/types.gen.ts';
import { principalInactive } from '../../../platform/errors.ts';
import { hashOf } from '../../../platform/ids.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { seal, unseal } from '../../../platform/seal.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import { prepareActs, recordBlockedAttempt } from '../../record/audit/index.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import { requireNewConsent, revokeGrant } from '../grants/index.ts';
import { refuseDenied } from '../policies/index.ts';
import { issueTokens, overridesFor, type TokenDeps } from './issue.ts';
import type { HeldGrant } from './tokens.queries.ts';
import { findRefreshable, findSuccessorId, type Refreshable } from './tokens.repo.ts';
import {
  type GrantRefusal,
  invalidGrant,
  type RequestedToken,
  refreshIdOf,
  type TokenOverrides,
} from './tokens.rules.ts';
import type { IssuedTokens, RefreshTokenRequest } from './tokens.schema.ts';
import { rotateRefreshToken } from './write.repo.ts';

/**
 * Exchanges a refresh token for a new one and a new grant token. The grant itself does not change. An OAuth client whose
 * programs use one refresh token at the same time gets one answer for all of them.
 * @param requested that of an OAuth client; a native call has none, and its refresh token works once
 * @throws INVALID_GRANT with the reason, POLICY_DENIED and `reconsent_required` (both leave the refresh token valid)
 */
export async function refreshTokens(
  deps: TokenDeps,
  caller: Caller,
  input: RefreshTokenRequest,
  requested?: RequestedToken,
): Promise<IssuedTokens> {
  const at = deps.clock();
  const refreshId = refreshIdOf(input.refreshToken);
  const found = refreshId && (await findRefreshable(deps.db, caller, refreshId, at));
  // A token of another developer or agent gets the same answer as an unknown token, and is not spent.
  const isKnown = found && timingSafeEqual(found.refreshHash, hashOf(input.refreshToken));
  if (!isKnown || found.agentId !== input.agentId) throw invalidGrant('refresh_unknown');
  const { refreshKeyThumbprint: bound } = found;
  if (bound !== null && bound !== requested?.keyThumbprint) throw invalidGrant('refresh_unknown');

  if (!found.isPrincipalActive) throw principalInactive();
  const refusal = refreshRefusal(found, at);
  const isRepeat = refusal === 'refresh_reused' && requested && isInOverlap(deps, found.refreshSpentAt, at);
  const hinders = isRepeat ? refreshRefusal({ ...found, refreshSpentAt: null }, at) : refusal;
  if (hinders === 'refresh_reused') await reportReuse(deps, caller, reuseOf(found), at);
  if (hinders) throw invalidGrant(hinders);
  await mustBeConsented(deps, caller, found);
  const form = await overridesFor(deps, caller, requested, found);
  const { version: policiesVersion } = await refuseDenied(
    deps,
    caller,
    { version: found.policiesVersion, at },
    { ...found, operation: 'refresh', grant: found },
  );

  if (isRepeat) {
    const first = await findAnswer(deps, caller, found.refreshId, form);
    if (first) return first;
    await reportReuse(deps, caller, reuseOf(found), at);
    throw invalidGrant('refresh_reused');
  }

  const { token, refresh, act, answer } = await issueTokens(deps, caller, found, at, found.refreshId, form);
  if (requested) await keepAnswer(deps, caller, refresh.id, { form, answer });
  const records = prepareActs(caller, [act], at);
  const refused = await rotateRefreshToken(deps.db, caller.tenant, at, {
    agentId: found.agentId,
    principalId: found.principalId,
    token,
    refresh,
    policiesVersion,
    records,
  });
  // The answer of the other request is there, since the token is found spent.
  const isLostRace = refused === 'refresh_reused' && requested && deps.refreshOverlapSeconds > 0;
  if (refused === 'policies_changed' || isLostRace) return refreshTokens(deps, caller, input, requested);
  if (refused === 'refresh_reused') await reportReuse(deps, caller, { ...reuseOf(found), usedAt: at }, at);
  if (refused === 'principal_inactive') throw principalInactive();
  if (refused) throw invalidGrant(refused);
  return answer;
}

function refreshRefusal(found: Refreshable, now: Date): GrantRefusal | undefined {
  if (found.status === 'revoked') return 'grant_revoked';
  if (found.refreshSpentAt) return 'refresh_reused';
  if (found.expiresAt <= now) return 'grant_expired';
  if (found.refreshExpiresAt <= now) return 'refresh_expired';
  return found.agentStatus === 'active' ? undefined : 'agent_inactive';
}

function reuseOf(found: Refreshable) {
  const about = concerning({ ...found, grantId: found.id });
  const isActive = found.status === 'active';
  return { kind: 'refresh' as const, about, usedAt: found.refreshSpentAt, isActive };
}

export const OVERLAP_KEY_USE = 'behest/refresh-overlap/v1';

export interface OverlapDeps {
  readonly db: Executor;
  readonly store: EphemeralStore;
  readonly keyRing: KeyRing;
  /** How long an OAuth client gets the answer to a refresh again; 0 for never. */
  readonly refreshOverlapSeconds: number;
  readonly logger?: Logger;
}

/** The answer to a refresh, and what was asked for. */
interface StoredAnswer {
  readonly asked: string;
  readonly answer: IssuedTokens;
}

const CLOCKS_DIFFER = 5; // seconds

/**
 * Keeps the answer to a refresh for programs that share the refresh token and refresh at the same time. Call it before the
 * refresh is written: whoever then finds the token spent finds the answer too. The store has it sealed, under the id of the
 * new refresh token, because each of the racing requests has prepared an answer and one of them wins. Without the store the
 * refresh succeeds, and cannot be repeated.
 */
async function keepAnswer(
  { store, keyRing, refreshOverlapSeconds, logger }: OverlapDeps,
  caller: Caller,
  successorId: string,
  { form, answer }: { readonly form: TokenOverrides; readonly answer: IssuedTokens },
): Promise<void> {
  if (refreshOverlapSeconds === 0) return;
  const kept: StoredAnswer = { asked: askedIn(form), answer };
  const sealed = seal(keyRing.derive(OVERLAP_KEY_USE), JSON.stringify(kept), boundTo(caller, successorId));
  const seconds = refreshOverlapSeconds + CLOCKS_DIFFER;
  await store
    .put([{ key: answerKey(successorId), value: sealed.toString('base64'), seconds }])
    .catch((err: unknown) => logger?.warn({ err }, 'the answer to a refresh cannot be repeated'));
}

/** Whether a refresh token that was spent then may still be answered again. */
const isInOverlap = ({ refreshOverlapSeconds }: OverlapDeps, spentAt: Date | null, at: Date): boolean =>
  spentAt !== null && at.getTime() < spentAt.getTime() + refreshOverlapSeconds * 1000;

/**
 * The answer that the first use of a refresh token got.
 * @param form what is asked for now. For other scopes, resources or another key the answer would be the wrong one, and a
 *   second token of the same refresh would be a second line of descent.
 */
async function findAnswer(
  { db, store, keyRing }: OverlapDeps,
  caller: Caller,
  refreshId: string,
  form: TokenOverrides,
): Promise<IssuedTokens | undefined> {
  const successorId = await findSuccessorId(db, caller.tenant, refreshId);
  const found = successorId && (await store.get(answerKey(successorId)));
  if (!found) return undefined;
  const sealed = Buffer.from(found, 'base64');
  const text = unseal(keyRing.derive(OVERLAP_KEY_USE), sealed, boundTo(caller, successorId));
  const kept: StoredAnswer | undefined = text === undefined ? undefined : JSON.parse(text);
  return kept?.asked === askedIn(form) ? kept.answer : undefined;
}

const answerKey = (successorId: string) => `bh:{refreshed:${successorId}}`;

const boundTo = ({ tenant }: Caller, successorId: string) =>
  Buffer.from(`${tenant.developerId}\n${successorId}`);

const askedIn = ({ scopes, audience, keyThumbprint }: TokenOverrides): string =>
  JSON.stringify([scopes ? [...scopes].sort() : null, audience ?? null, keyThumbprint ?? null]);

/**
 * Refuses more tokens from a grant whose person has to consent again, and records it. The grant stays, and its
 * tokens are good until they expire.
 * @throws INVALID_GRANT `reconsent_required`
 */
export async function mustBeConsented(
  deps: { readonly db: Executor; readonly clock: Clock },
  caller: Caller,
  grant: HeldGrant & { readonly renewalCauses: readonly RenewalCause[] },
): Promise<void> {
  const { renewalCauses: causes } = grant;
  if (causes.length === 0) return;
  await requireNewConsent(deps, caller, grant, { causes });
  throw invalidGrant('reconsent_required');
}

/** A code or refresh token that was presented a second time. */
interface Reuse {
  readonly kind: 'code' | 'refresh';
  readonly about: ActSubject;
  readonly usedAt: Date | null;
  /** Whether the grant is not revoked yet. */
  readonly isActive: boolean;
}

/**
 * Soon after the first use, the same client most likely lost its answer and tries again. Later, two parties
 * hold a secret of one party. The service cannot tell which of them is the thief, so it revokes the grant.
 * @see RFC 9700 §4.14.2
 */
export async function reportReuse(
  deps: TokenDeps,
  caller: Caller,
  { kind, about, usedAt, isActive }: Reuse,
  at: Date,
): Promise<void> {
  const graceEnds = (usedAt ?? at).getTime() + deps.reuseGraceSeconds * 1000;
  const { grantId } = about;
  if (!isActive || !grantId || at.getTime() <= graceEnds) {
    const attempt = { action: 'token.reuse_detected', about, data: { kind, revoked: false } } as const;
    await inTransaction(deps.db, (tx) => recordBlockedAttempt(tx, caller, attempt, at));
    return;
  }
  const detected = { type: 'token.reuse_detected', ...about, data: { kind, revoked: true } } as const;
  const reason = kind === 'code' ? 'code_reuse' : 'refresh_reuse';
  await revokeGrant(deps, { ...caller, actor: 'system' }, grantId, { reason, because: [detected] });
}

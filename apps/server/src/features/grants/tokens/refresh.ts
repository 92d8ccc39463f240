import { timingSafeEqual } from 'node:crypto';
import { concerning } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { principalInactive } from '../../../platform/errors.ts';
import { hashOf } from '../../../platform/ids.ts';
import { prepareActs } from '../../record/audit/index.ts';
import { refuseDenied } from '../policies/index.ts';
import { mustBeConsented } from './consented.ts';
import type { TokenWish } from './form.rules.ts';
import { issueTokens, type TokenDeps } from './issue.ts';
import { findAnswer, isInOverlap, keepAnswer } from './overlap.ts';
import { reportReuse } from './reuse.ts';
import { findRefreshable, type Refreshable, rotateRefreshToken } from './tokens.repo.ts';
import { type GrantRefusal, invalidGrant, refreshIdOf } from './tokens.rules.ts';
import type { IssuedTokens, Refresh } from './tokens.schema.ts';
import { wishedForm } from './wish.ts';

/**
 * Exchanges a refresh token for a new one and a new grant token. The grant itself does not change. An OAuth client whose
 * programs use one refresh token at the same time gets one answer for all of them.
 * @param wish that of an OAuth client; a native call has none, and its refresh token works once
 * @throws INVALID_GRANT with the reason, POLICY_DENIED and `reconsent_required` (both leave the refresh token valid)
 */
export async function refreshTokens(
  deps: TokenDeps,
  caller: Caller,
  input: Refresh,
  wish?: TokenWish,
): Promise<IssuedTokens> {
  const at = deps.clock();
  const refreshId = refreshIdOf(input.refreshToken);
  const found = refreshId && (await findRefreshable(deps.db, caller, refreshId, at));
  // A token of another developer or agent gets the same answer as an unknown token, and is not spent.
  const isKnown = found && timingSafeEqual(found.refreshHash, hashOf(input.refreshToken));
  if (!isKnown || found.agentId !== input.agentId) throw invalidGrant('refresh_unknown');
  const { refreshKeyThumbprint: bound } = found;
  if (bound !== null && bound !== wish?.keyThumbprint) throw invalidGrant('refresh_unknown');

  if (!found.isPrincipalActive) throw principalInactive();
  const refusal = refreshRefusal(found, at);
  const isRepeat = refusal === 'refresh_reused' && wish && isInOverlap(deps, found.refreshSpentAt, at);
  const hinders = isRepeat ? refreshRefusal({ ...found, refreshSpentAt: null }, at) : refusal;
  if (hinders === 'refresh_reused') await reportReuse(deps, caller, reuseOf(found), at);
  if (hinders) throw invalidGrant(hinders);
  await mustBeConsented(deps, caller, found);
  const form = await wishedForm(deps, caller, wish, found);
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
  if (wish) await keepAnswer(deps, caller, refresh.id, { form, answer });
  const records = prepareActs(caller, [act], at);
  const lost = await rotateRefreshToken(deps.db, caller.tenant, at, {
    agentId: found.agentId,
    principalId: found.principalId,
    token,
    refresh,
    policiesVersion,
    records,
  });
  // The answer of the other request is there, since the token is found spent.
  const isLostRace = lost === 'refresh_reused' && wish && deps.refreshOverlapSeconds > 0;
  if (lost === 'policies_changed' || isLostRace) return refreshTokens(deps, caller, input, wish);
  if (lost === 'refresh_reused') await reportReuse(deps, caller, { ...reuseOf(found), usedAt: at }, at);
  if (lost === 'principal_inactive') throw principalInactive();
  if (lost) throw invalidGrant(lost);
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

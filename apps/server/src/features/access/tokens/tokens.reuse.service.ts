import type { ActSubject } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { recordBlockedAttempt } from '../../record/audit/index.ts';
import { revokeGrant } from '../grants/index.ts';
import type { TokenDeps } from './tokens.issue.service.ts';

/** A code or refresh token that was presented once more. */
export interface Reuse {
  readonly kind: 'code' | 'refresh';
  readonly about: ActSubject;
  readonly usedAt: Date | null;
  /** Whether the grant is still there to be revoked. */
  readonly isActive: boolean;
}

/**
 * Soon after the first use it is most likely the same client again, whose answer was lost. Later, two parties
 * hold what one should: nobody can tell which is the thief, so the whole family ends.
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

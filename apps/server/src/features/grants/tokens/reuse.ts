import type { ActSubject } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { recordBlockedAttempt } from '../../record/audit/index.ts';
import { revokeGrant } from '../grants/index.ts';
import type { TokenDeps } from './issue.ts';

/** A code or refresh token that was presented a second time. */
export interface Reuse {
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

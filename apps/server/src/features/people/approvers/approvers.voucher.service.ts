import { hash } from 'node:crypto';
import type { Executor } from '../../../platform/db/db.ts';
import { readSessionCookie } from '../sso/index.ts';
import { vouchingFor } from '../sso/sso.sessions.queries.ts';
import type { ApproverDeps } from './approvers.deps.service.ts';
import type { ApproverRow } from './approvers.queries.ts';
import { mailboxOf } from './approvers.rules.ts';

interface Voucher {
  /** The person as their provider names them; undefined where it does not vouch for them in this browser. */
  readonly vouched: Pick<ApproverRow, 'ssoSub' | 'ssoUserId'> | undefined;
  /** Where the person signs in, so that it does. */
  readonly signInAt: string | null;
}

/**
 * The identity provider that vouches for a person: that of the verified domain of their address, when this browser has
 * signed in there as the person with this address. A principal has a sub of its own, and no voucher.
 */
export async function voucherOf(
  { clock, publicBaseUrl }: Pick<ApproverDeps, 'clock' | 'publicBaseUrl'>,
  db: Executor,
  row: ApproverRow,
  signOn: string | undefined,
): Promise<Voucher> {
  if (row.kind !== 'person') return { vouched: undefined, signInAt: null };
  const asking = { address: row.email, now: clock(), cookie: readSessionCookie(signOn) };
  const found = await vouchingFor(db, row, asking);
  const session = found?.session;
  if (session?.email && mailboxOf(session.email) === row.mailbox) {
    const provider = hash('sha256', session.issuer, 'base64url').slice(0, 22);
    const vouched = { ssoSub: `sso:${provider}:${session.subject}`, ssoUserId: session.userId };
    return { vouched, signInAt: null };
  }
  return { vouched: undefined, signInAt: found ? `${publicBaseUrl}${found.loginPath}` : null };
}

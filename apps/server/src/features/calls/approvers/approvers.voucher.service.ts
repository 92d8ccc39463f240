import { hash } from 'node:crypto';
import type { Executor } from '../../../platform/db/db.ts';
import { userOfPrincipal } from '../../people/scim/scim.queries.ts';
import { readSessionCookie } from '../../people/sso/index.ts';
import { vouchingFor } from '../../people/sso/sso.sessions.queries.ts';
import type { ApproverDeps } from './approvers.deps.service.ts';
import type { ApproverRow } from './approvers.queries.ts';
import { mailboxOf } from './approvers.rules.ts';

interface Voucher {
  /** Whether the person’s provider vouches for them in this browser. */
  readonly isVouched: boolean;
  /** The person as their provider names them. A principal keeps the name of a principal. */
  readonly vouched: Pick<ApproverRow, 'ssoSub' | 'ssoUserId'> | undefined;
  /** Where the person signs in, so that it does. */
  readonly signInAt: string | null;
}

/**
 * The identity provider that vouches for a person: that of the verified domain of their address, when this browser has
 * signed in there as the person with this address, and for a principal as the user who stands for it.
 */
export async function voucherOf(
  { clock, publicBaseUrl }: Pick<ApproverDeps, 'clock' | 'publicBaseUrl'>,
  db: Executor,
  row: ApproverRow,
  signOn: string | undefined,
): Promise<Voucher> {
  const asking = { address: row.email, now: clock(), cookie: readSessionCookie(signOn) };
  const found = await vouchingFor(db, row, asking);
  const session = found?.session;
  const isSame = session?.email && mailboxOf(session.email) === row.mailbox;
  if (isSame && (await isUserOf(db, row, session.userId))) {
    const provider = hash('sha256', session.issuer, 'base64url').slice(0, 22);
    const vouched = { ssoSub: `sso:${provider}:${session.subject}`, ssoUserId: session.userId };
    return { isVouched: true, vouched: row.kind === 'person' ? vouched : undefined, signInAt: null };
  }
  const signInAt = found ? `${publicBaseUrl}${found.loginPath}` : null;
  return { isVouched: false, vouched: undefined, signInAt };
}

const isUserOf = async (db: Executor, row: ApproverRow, userId: string | null): Promise<boolean> =>
  row.principalId === null ||
  (userId !== null && userId === (await userOfPrincipal(db, row, row.principalId)));

import type { BrowserRequest, Caller, Tenant } from '../../../platform/caller.ts';
import { AppError } from '../../../platform/errors.ts';
import { hashOf, isSameText } from '../../../platform/ids.ts';
import { findCallerParts } from '../../accounts/developers/developers.queries.ts';
import {
  type ApproverSessionRow,
  findApprover,
  findApproverSession,
  touchSession,
} from './approvers.repo.ts';
import { IDLE_MS } from './approvers.rules.ts';
import type { ApproverDeps } from './deps.ts';
import { csrfTokenOf, missingSignOn, sessionCookieIn, signOnIn, unauthorized } from './session.ts';

const TOUCH_MS = 60_000;

/**
 * Authenticates an approver by cookie, and by CSRF token where something changes. Each request asks the database, so
 * a removal and a demand of single sign-on take effect at once.
 * @throws UNAUTHORIZED, FORBIDDEN
 */
export const authenticateApprover =
  (deps: Pick<ApproverDeps, 'db' | 'clock' | 'keyRing' | 'publicBaseUrl'>) =>
  async (browser: BrowserRequest): Promise<Caller> => {
    const { cookies, csrfToken = '', isWrite, hasAuthorization, requestId, ip, userAgent } = browser;
    if (hasAuthorization)
      throw new AppError('FORBIDDEN', 'Only a person can decide. Send no `Authorization` header.');
    const value = sessionCookieIn(deps, cookies);
    const { tenant, row, session, parts } = await sessionIn(deps, cookies);
    if (isWrite && !isSameText(csrfToken, csrfTokenOf(deps, value))) {
      throw new AppError('FORBIDDEN', 'Send the `csrfToken` of this session as `X-CSRF-Token`.');
    }
    if (!browser.isBackground) await touch(deps, session);
    return {
      tenant,
      agentIds: null,
      actor: `approver:${row.id}`,
      role: 'runtime',
      ...parts,
      requestId,
      approver: { approverId: row.id, sessionId: session.id },
      browser: { ip, userAgent: userAgent ?? null },
    };
  };

type SessionDeps = Pick<ApproverDeps, 'db' | 'clock' | 'publicBaseUrl'>;
type Cookies = BrowserRequest['cookies'];

/** Whether these cookies still let an approver in. Asking does not count as use of the session. */
export const isSignedIn = (deps: SessionDeps, cookies: Cookies): Promise<boolean> =>
  sessionIn(deps, cookies).then(
    () => true,
    (error: unknown) => {
      if (error instanceof AppError) return false;
      throw error;
    },
  );

/** @throws UNAUTHORIZED */
async function sessionIn(deps: SessionDeps, cookies: Cookies) {
  const [developerId = '', id = '', secret = ''] = sessionCookieIn(deps, cookies).split('.');
  const tenant: Tenant = { developerId };
  const now = deps.clock();
  const session = secret === '' ? undefined : await findApproverSession(deps.db, tenant, id);
  const isOpen =
    session?.secretHash.equals(hashOf(secret)) &&
    now < session.expiresAt &&
    now.getTime() < session.lastSeenAt.getTime() + IDLE_MS;
  if (!session || !isOpen) throw unauthorized();
  const row = await findApprover(deps.db, tenant, session.approverId);
  if (row?.status !== 'active' && row?.status !== 'pending_confirmation') throw unauthorized();
  if (await missingSignOn(deps, deps.db, row, signOnIn(deps, cookies))) throw unauthorized();
  const parts = await findCallerParts(deps.db, tenant);
  if (!parts) throw unauthorized();
  return { tenant, row, session, parts };
}

/** Records the use of a session, from which its idle time counts. */
async function touch({ db, clock }: SessionDeps, session: ApproverSessionRow): Promise<void> {
  const now = clock();
  if (now.getTime() - session.lastSeenAt.getTime() >= TOUCH_MS)
    await touchSession(db, session, session.id, now);
}

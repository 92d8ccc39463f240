import { createHmac } from 'node:crypto';
import { stringifySetCookie } from 'cookie';
import type { BrowserRequest, Caller, Tenant } from '../../../platform/caller.ts';
import { inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { hashOf, isSameText, newId, newSecret, secretParts } from '../../../platform/ids.ts';
import { findBrand, findCallerParts } from '../../accounts/developers/developers.queries.ts';
import { cookieNames, readSessionCookie, ssoRequired } from '../../people/sso/index.ts';
import { standingOf } from '../../people/sso/sessions.queries.ts';
import type { SignInAt } from '../../people/sso/sso.queries.ts';
import {
  type ApproverRow,
  type ApproverSessionRow,
  deleteApproverSessions,
  findApprover,
  findApproverSession,
  insertApproverSession,
  touchSession,
} from './approvers.repo.ts';
import { IDLE_MS, SESSION_MS } from './approvers.rules.ts';
import type { Approver, ApproverSession } from './approvers.schema.ts';
import type { ApproverDeps } from './deps.ts';
import { toApprover } from './manage.ts';

export const CSRF_KEY_USE = 'behest/approver-csrf/v1';
const DEVICE_SECONDS = 400 * 86_400;

type Base = Pick<ApproverDeps, 'publicBaseUrl'>;
const isSecure = ({ publicBaseUrl }: Base) => publicBaseUrl.startsWith('https:');
const cookieName = (deps: Base) => `${isSecure(deps) ? '__Host-' : ''}bh_approve`;
const deviceName = (deps: Base) => `${isSecure(deps) ? '__Host-' : ''}bh_device`;

/** The session and the device mark of a browser, as its cookies. */
export interface OpenedBrowser {
  readonly opened: ApproverSession;
  readonly cookies: readonly string[];
}

/** The marks of a browser that opens a session. */
export interface OpeningBrowser {
  readonly device: string | undefined;
  /** The cookie of a session of single sign-on. */
  readonly signOn: string | undefined;
  /** The cookie of the session that it has, or empty. It ends with the next one. */
  readonly former: string;
}

/** Opens a session of the page, after a passkey of the approver. @throws SSO_REQUIRED */
export async function openApproverSession(
  deps: ApproverDeps,
  tx: Tx,
  row: ApproverRow,
  { device, signOn, former }: OpeningBrowser,
): Promise<OpenedBrowser> {
  await mustBeSignedOn(deps, tx, row, signOn);
  await endFormer(tx, former);
  const at = deps.clock();
  const mark = device !== undefined && /^[\w-]{43}$/.test(device) ? device : newSecret();
  const id = newId('cses', at);
  const secret = newSecret();
  const session = await insertApproverSession(
    tx,
    row,
    {
      id,
      approverId: row.id,
      secretHash: hashOf(secret),
      deviceHash: hashOf(mark),
      assertedAt: at,
      lastSeenAt: at,
      expiresAt: new Date(at.getTime() + SESSION_MS),
    },
    at,
  );
  const value = `${row.developerId}.${id}.${secret}`;
  const shared = { path: '/', httpOnly: true, sameSite: 'strict', secure: isSecure(deps) } as const;
  return {
    opened: await toOpened(deps, tx, row, session, value),
    cookies: [
      stringifySetCookie({ name: cookieName(deps), value, ...shared }),
      stringifySetCookie({ name: deviceName(deps), value: mark, maxAge: DEVICE_SECONDS, ...shared }),
    ],
  };
}

/** Only the secret ends a session: ids are no secrets. */
async function endFormer(tx: Tx, cookie: string): Promise<void> {
  const { developerId, id, secret } = secretParts(cookie);
  const session = secret === '' ? undefined : await findApproverSession(tx, { developerId }, id);
  if (session?.secretHash.equals(hashOf(secret)))
    await deleteApproverSessions(tx, { developerId }, session.approverId, id);
}

/** The cookies of a browser that signs out. */
export const endedCookie = (deps: Base): string =>
  stringifySetCookie({
    name: cookieName(deps),
    value: '',
    path: '/',
    maxAge: 0,
    httpOnly: true,
    sameSite: 'strict',
    secure: isSecure(deps),
  });

export const deviceIn = (deps: Base, cookies: Readonly<Record<string, string | undefined>>) =>
  cookies[deviceName(deps)];

/** The answer to a browser that has a session. */
export async function showSession(
  deps: ApproverDeps,
  caller: Caller,
  cookie: string,
): Promise<ApproverSession> {
  const { approverId, sessionId } = approverIn(caller);
  const row = await findApprover(deps.db, caller.tenant, approverId);
  const session = await findApproverSession(deps.db, caller.tenant, sessionId);
  if (!row || !session) throw unauthorized();
  return toOpened(deps, deps.db, row, session, cookie);
}

/** The record of the approver who asks. @throws NOT_FOUND when they were removed meanwhile */
export async function showSelf({ db }: Pick<ApproverDeps, 'db'>, caller: Caller): Promise<Approver> {
  const row = await findApprover(db, caller.tenant, approverIn(caller).approverId);
  if (!row) throw notFound();
  return toApprover(row);
}

async function toOpened(
  deps: ApproverDeps,
  db: ApproverDeps['db'],
  row: ApproverRow,
  session: ApproverSessionRow,
  value: string,
): Promise<ApproverSession> {
  return {
    approver: toApprover(row),
    ...(await findBrand(db, row)),
    csrfToken: csrfTokenOf(deps, value),
    expiresAt: session.expiresAt.toISOString(),
    mayDecideUntil: new Date(session.assertedAt.getTime() + deps.stepUpSeconds * 1000).toISOString(),
  };
}

/** The cookie as the browser sent it. */
export const sessionCookieIn = (deps: Base, cookies: Readonly<Record<string, string | undefined>>): string =>
  cookies[cookieName(deps)] ?? '';

/** The approver who calls. @throws a plain Error on a route of another access, which is a bug */
export function approverIn({ approver }: Caller) {
  if (!approver) throw new Error('The caller is no approver.');
  return approver;
}

/** @throws FORBIDDEN when the passkey was used too long ago */
export async function mustBeFresh(
  deps: ApproverDeps,
  tx: Tx,
  caller: Caller,
  seconds = deps.stepUpSeconds,
): Promise<ApproverSessionRow> {
  const session = await findApproverSession(tx, caller.tenant, approverIn(caller).sessionId);
  if (!session) throw unauthorized();
  if (deps.clock().getTime() < session.assertedAt.getTime() + seconds * 1000) return session;
  throw new AppError('FORBIDDEN', 'Sign in with your passkey again, because the last time is too long ago.', {
    sub_reason: 'session_too_old',
  });
}

/** Ends this session. */
export const endSession = ({ db }: Pick<ApproverDeps, 'db'>, caller: Caller): Promise<void> => {
  const { approverId, sessionId } = approverIn(caller);
  return inTransaction(db, (tx) => deleteApproverSessions(tx, caller.tenant, approverId, sessionId));
};

/** The token that a page sends with its writes: bound to the cookie. */
function csrfTokenOf({ keyRing }: Pick<ApproverDeps, 'keyRing'>, value: string): string {
  const { current } = keyRing.derive(CSRF_KEY_USE);
  return createHmac('sha256', current).update(value).digest('base64url');
}

export const unauthorized = () => new AppError('UNAUTHORIZED', 'Sign in with your passkey.');

type Cookies = Readonly<Record<string, string | undefined>>;
type Deps = Pick<ApproverDeps, 'clock' | 'publicBaseUrl'>;

/** The value of the cookie of single sign-on in this browser. */
export const signOnIn = ({ publicBaseUrl }: Pick<Deps, 'publicBaseUrl'>, cookies: Cookies) =>
  cookies[cookieNames(publicBaseUrl).session];

/**
 * The connection at which an approver has to sign in besides their passkey: where single sign-on is enforced for the
 * principal who they are, and this browser has no session of it.
 */
async function missingSignOn(
  { clock }: Pick<Deps, 'clock'>,
  db: ApproverDeps['db'],
  { developerId, principalId }: Pick<ApproverRow, 'developerId' | 'principalId'>,
  signOn: string | undefined,
): Promise<SignInAt | undefined> {
  if (principalId === null) return undefined;
  const cookie = readSessionCookie(signOn);
  const asking = { principalId, now: clock(), cookie, since: null, isDemanded: false };
  const standing = await standingOf(db, { developerId }, asking);
  return standing?.session ? undefined : standing?.signInAt;
}

/** @throws SSO_REQUIRED */
async function mustBeSignedOn(
  deps: Deps,
  db: ApproverDeps['db'],
  row: ApproverRow,
  signOn: string | undefined,
): Promise<void> {
  const demanded = await missingSignOn(deps, db, row, signOn);
  if (demanded) throw ssoRequired(deps.publicBaseUrl, demanded);
}

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
  const { developerId, id, secret } = secretParts(sessionCookieIn(deps, cookies));
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

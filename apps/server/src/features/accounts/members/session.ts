import { createHmac } from 'node:crypto';
import { stringifySetCookie } from 'cookie';
import { type BrowserRequest, type Caller, CONSOLE_COOKIE, type Tenant } from '../../../platform/caller.ts';
import type { ChargeRecipient } from '../../../platform/charge.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { hashOf, isSameText, newId, newSecret, secretParts } from '../../../platform/ids.ts';
import type { Mailer } from '../../../platform/mail/mailer.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import type { DiscoverDeps } from '../../people/passkeys/index.ts';
import { recordEntry } from '../../record/audit/index.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import { findBrand, findCallerParts } from '../developers/developers.queries.ts';
import {
  deleteSession,
  type FoundSession,
  findMember,
  findOpenSession,
  findSession,
  insertSession,
  type MemberRow,
  replaceSession,
  type SessionRow,
  touchSession,
} from './members.repo.ts';
import { capabilitiesIn, ENROLMENT_SECONDS, isSteppedUp, steppedUpUntil } from './members.rules.ts';
import type { ConsoleSession, Member } from './members.schema.ts';

export const CSRF_KEY_USE = 'behest/console-csrf/v1';

export interface MemberDeps extends DiscoverDeps {
  readonly keyRing: KeyRing;
  readonly publicBaseUrl: string;
  readonly isProduction: boolean;
  readonly idleSeconds: number;
  readonly sessionSeconds: number;
  readonly stepUpSeconds: number;
  readonly chargeRecipient: ChargeRecipient;
  /** Undefined where the service sends no mail. */
  readonly mailer?: Mailer;
  readonly onMailFailed: () => void;
  readonly logger?: Logger;
}

type Base = Pick<MemberDeps, 'publicBaseUrl'>;
type Cookies = BrowserRequest['cookies'];

const isSecure = ({ publicBaseUrl }: Base) => publicBaseUrl.startsWith('https:');
const cookieName = (deps: Base) => `${isSecure(deps) ? '__Host-' : ''}${CONSOLE_COOKIE}`;
const cookieOf = (deps: Base, value: string, rest: { readonly maxAge?: number } = {}) =>
  stringifySetCookie({
    ...{ name: cookieName(deps), value, path: '/', httpOnly: true, sameSite: 'strict' },
    ...{ secure: isSecure(deps), ...rest },
  });

/** The cookie of a browser that signs out. */
export const endedCookie = (deps: Base): string => cookieOf(deps, '', { maxAge: 0 });

/** The cookie as the browser sent it. */
export const sessionCookieIn = (deps: Base, cookies: Cookies): string => cookies[cookieName(deps)] ?? '';

/** A session that was opened, and the cookie that is its only proof. */
export interface OpenedConsole {
  readonly opened: ConsoleSession;
  readonly cookie: string;
}

/** The browser that opens a session. */
export interface ConsoleBrowser {
  /** The cookie of a session that it has, or empty. It ends with the next one. */
  readonly former: string;
  readonly ip: string;
  readonly userAgent: string | null;
}

type Opening = Pick<SessionRow, 'openedBy' | 'keyId' | 'needsPasskey' | 'steppedUpAt'>;

/** The session at an identity provider that a session of the console does not outlive. */
interface Underlying {
  readonly ssoSession?: { readonly id: string; readonly expiresAt: Date };
}

/** Opens a session of a member in the transaction of their sign-in. */
export async function openConsoleSession(
  deps: MemberDeps,
  tx: Tx,
  member: MemberRow,
  { ssoSession, ...opening }: Opening & Underlying,
  { former, ip, userAgent }: ConsoleBrowser,
): Promise<OpenedConsole> {
  await endFormer(tx, former);
  const at = deps.clock();
  const seconds = opening.needsPasskey ? ENROLMENT_SECONDS : deps.sessionSeconds;
  const id = newId('cons', at);
  const secret = newSecret();
  const end = new Date(at.getTime() + seconds * 1000);
  const session = await insertSession(
    tx,
    member,
    {
      ...{ id, memberId: member.id, secretHash: hashOf(secret), ...opening },
      ...{ ip, userAgent, createdAt: at, lastSeenAt: at },
      ...{ ssoSessionId: ssoSession?.id ?? null },
      expiresAt: ssoSession && ssoSession.expiresAt < end ? ssoSession.expiresAt : end,
    },
    at,
  );
  const value = `${member.developerId}.${id}.${secret}`;
  return { opened: await toSession(deps, tx, { member, session, value }), cookie: cookieOf(deps, value) };
}

/** Gives the session of a caller another id and cookie, because it may do more from now on. @throws UNAUTHORIZED */
export async function renewSession(
  deps: MemberDeps,
  tx: Tx,
  caller: Caller,
  change: Partial<Opening & Pick<SessionRow, 'expiresAt'>>,
): Promise<OpenedConsole> {
  const { memberId, sessionId } = memberIn(caller);
  const { tenant } = caller;
  const at = deps.clock();
  const id = newId('cons', at);
  const secret = newSecret();
  const named = { id, secretHash: hashOf(secret), steppedUpAt: at };
  const session = await replaceSession(tx, tenant, sessionId, { ...named, ...change });
  const member = await findMember(tx, tenant, memberId);
  if (!session || !member) throw unauthorized();
  const value = `${tenant.developerId}.${id}.${secret}`;
  return { opened: await toSession(deps, tx, { member, session, value }), cookie: cookieOf(deps, value) };
}

/** Only the secret ends a session: ids are no secrets. */
async function endFormer(tx: Tx, cookie: string): Promise<void> {
  const { developerId, id, secret } = secretParts(cookie);
  const session = secret === '' ? undefined : await findSession(tx, { developerId }, id);
  if (session?.secretHash.equals(hashOf(secret))) await deleteSession(tx, { developerId }, id);
}

interface Shown {
  readonly member: MemberRow;
  readonly session: SessionRow;
  readonly value: string;
}

async function toSession(
  deps: MemberDeps,
  db: Executor,
  { member, session, value }: Shown,
): Promise<ConsoleSession> {
  const { developerId } = member;
  const parts = await findCallerParts(db, member);
  if (!parts) throw unauthorized();
  const { developerName: name, ...brand } = await findBrand(db, member);
  return {
    sessionId: session.id,
    member: toMember(member),
    developer: { developerId, name, ...parts, ...brand },
    csrfToken: csrfTokenOf(deps, value),
    capabilities: [...capabilitiesIn(member, session)],
    passkeyRequired: session.needsPasskey,
    openedBy: session.openedBy,
    expiresAt: session.expiresAt.toISOString(),
    idleExpiresAt: idleEndOf(deps, session).toISOString(),
    steppedUpUntil: steppedUpUntil(session, deps.stepUpSeconds)?.toISOString() ?? null,
  };
}

export const toMember = (row: MemberRow): Member => ({
  ...{ id: row.id, memberId: row.id, email: row.email, displayName: row.displayName },
  ...{ role: row.role, status: row.status, invitedBy: row.invitedBy },
  identity: row.ssoConnectionId === null ? 'passkey' : `sso:${row.ssoConnectionId}`,
  createdAt: row.createdAt.toISOString(),
  lastSeenAt: row.lastSeenAt?.toISOString() ?? null,
  protectedUntil: row.protectedUntil?.toISOString() ?? null,
});

const idleEndOf = (
  { idleSeconds }: Pick<MemberDeps, 'idleSeconds'>,
  { lastSeenAt, expiresAt }: Pick<SessionRow, 'lastSeenAt' | 'expiresAt'>,
) => new Date(Math.min(lastSeenAt.getTime() + idleSeconds * 1000, expiresAt.getTime()));

/** The member who calls. @throws a plain Error on a route of another access, which is a bug */
export function memberIn({ member }: Caller) {
  if (!member) throw new Error('The caller is no member.');
  return member;
}

/** The answer to a browser that has a session. @throws UNAUTHORIZED when it ended meanwhile */
export async function showSession(deps: MemberDeps, caller: Caller, value: string): Promise<ConsoleSession> {
  const { memberId, sessionId } = memberIn(caller);
  const member = await findMember(deps.db, caller.tenant, memberId);
  const session = await findSession(deps.db, caller.tenant, sessionId);
  if (!member || !session) throw unauthorized();
  return toSession(deps, deps.db, { member, session, value });
}

/** Signs out. */
export function endSession({ db, clock }: Pick<MemberDeps, 'db' | 'clock'>, caller: Caller): Promise<void> {
  const { memberId, sessionId } = memberIn(caller);
  return inTransaction(db, async (tx) => {
    if (!(await deleteSession(tx, caller.tenant, sessionId))) return;
    await recordEntry(
      tx,
      caller,
      { action: 'console.session_ended', data: { memberId, reason: 'signed_out' } },
      clock(),
    );
  });
}

/** The token that a page sends with its writes: bound to the cookie. */
function csrfTokenOf({ keyRing }: Pick<MemberDeps, 'keyRing'>, value: string): string {
  const { current } = keyRing.derive(CSRF_KEY_USE);
  return createHmac('sha256', current).update(value).digest('base64url');
}

export const unauthorized = () => new AppError('UNAUTHORIZED', 'Sign in to the console.');
const TOUCH_MS = 60_000;

/**
 * Authenticates a member by cookie. It counts only where the browser says that a page of the service's own origin asks,
 * and for a change only with the CSRF token of the session and a JSON body. Each request asks the database, so the end of a
 * session, of its member and of its key takes effect at once, and nothing of it is in Redis.
 * @throws UNAUTHORIZED, FORBIDDEN
 */
export const authenticateMember =
  (deps: MemberDeps) =>
  async (browser: BrowserRequest): Promise<Caller> => {
    mustBeOwnPage(deps, browser);
    const value = sessionCookieIn(deps, browser.cookies);
    const { tenant, session } = await sessionIn(deps, value);
    if (browser.isWrite && !isSameText(browser.csrfToken ?? '', csrfTokenOf(deps, value))) {
      throw new AppError('FORBIDDEN', 'Send the `csrfToken` of this session as `X-CSRF-Token`.');
    }
    const now = deps.clock();
    const isDue = now.getTime() - session.lastSeenAt.getTime() >= TOUCH_MS;
    if (isDue && !browser.isBackground) await touchSession(deps.db, tenant, session, now);
    const { role, mode, plan, memberId } = session;
    const { requestId, ip: address } = browser;
    return {
      ...{
        tenant,
        agentIds: null,
        actor: `member:${memberId}`,
        role: 'full',
        mode,
        plan,
        requestId,
        address,
      },
      member: {
        ...{ memberId, role, sessionId: session.id, capabilities: capabilitiesIn(session, session) },
        isSteppedUp: isSteppedUp(session, deps.stepUpSeconds, now),
        stepUpSeconds: deps.stepUpSeconds,
      },
    };
  };

/** A page of another origin cannot forge what browsers say about it (Fetch, section 3.2). @throws FORBIDDEN */
function mustBeOwnPage(
  { publicBaseUrl }: Base,
  { fetchSite, origin, contentType, isWrite }: BrowserRequest,
): void {
  const isOwnOrigin = origin === new URL(publicBaseUrl).origin;
  if (fetchSite !== 'same-origin' || (origin !== undefined && !isOwnOrigin) || (isWrite && !isOwnOrigin)) {
    const message =
      'The cookie of the console counts only in requests of its own pages, with the `Sec-Fetch-Site` and `Origin` that browsers send.';
    throw new AppError('FORBIDDEN', message);
  }
  if (isWrite && contentType !== undefined && !/^application\/json *(?:;|$)/i.test(contentType)) {
    throw new AppError('FORBIDDEN', 'A session of the console sends JSON and no form.');
  }
}

/** @throws UNAUTHORIZED */
async function sessionIn(
  deps: Pick<MemberDeps, 'db' | 'clock' | 'idleSeconds'>,
  value: string,
): Promise<{ readonly tenant: Tenant; readonly session: FoundSession }> {
  const { developerId, id, secret } = secretParts(value);
  const tenant = { developerId };
  const now = deps.clock();
  const session = secret === '' ? undefined : await findOpenSession(deps.db, tenant, id, now);
  const isOpen = session?.secretHash.equals(hashOf(secret)) && now < idleEndOf(deps, session);
  if (!session || !isOpen) throw unauthorized();
  return { tenant, session };
}

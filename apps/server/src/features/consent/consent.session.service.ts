import { createHmac, timingSafeEqual } from 'node:crypto';
import type { BrowserRequest, Caller, Mode, Plan } from '../../platform/caller.ts';
import { inTransaction } from '../../platform/db/db.ts';
import { AppError, notFound } from '../../platform/errors.ts';
import { hashOf, newSecret } from '../../platform/ids.ts';
import type { EphemeralStore } from '../../platform/redis/ephemeral-store.ts';
import { recordBlocked } from '../audit/index.ts';
import { type AuthorizationDeps, findTicket, gone, statusAt } from '../authorization/index.ts';
import type { KeyRing } from '../keys/index.ts';
import { isGoodHint } from './consent.hint.service.ts';
import { findShown, type ShownRow } from './consent.repo.ts';
import { verificationOf } from './consent.rules.ts';
import type { OpenedSession, OpenSession, ShownRequest, Verification } from './consent.schema.ts';
import { shownRequest } from './consent.show.service.ts';

export interface ConsentDeps extends AuthorizationDeps {
  readonly keyRing: KeyRing;
  /** The `iss` of tokens, which a hint is meant for and an answer comes from. */
  readonly issuer: string;
}

/** One browser's hold on one request. The store keeps a hash of the cookie, so reading it opens nothing. */
interface Session {
  readonly hash: string;
  readonly developerId: string;
  readonly mode: Mode;
  readonly plan: Plan;
  readonly verification: Verification;
}

const sessionKey = (requestId: string) => `bh:{${requestId}}:session`;

/**
 * Opens the page's session with the ticket that the person was sent. Opening again takes the place of the session
 * before: the last browser wins. A hint that is not good leaves the proof open, and the page says so.
 * @throws NOT_FOUND for a wrong ticket and an unknown request alike, GONE when it is decided or too late
 */
export async function openSession(
  deps: ConsentDeps,
  requestId: string,
  { ticket, hint }: OpenSession,
  origin: { requestId: string; ip: string; userAgent: string | undefined },
): Promise<{ opened: OpenedSession; secret: string; expiresAt: Date }> {
  const inFlight = await findTicket(deps.store, requestId);
  const expected = Buffer.from(inFlight?.hash ?? '', 'base64url');
  const given = hashOf(ticket);
  if (!inFlight || !timingSafeEqual(expected, given)) throw notFound();
  const row = await pendingRow(deps, inFlight.developerId, requestId);

  const verification = await verify(deps, row, hint, callerOf(row, origin));
  const secret = newSecret();
  const session: Session = {
    hash: hashOf(secret).toString('base64url'),
    developerId: row.developerId,
    mode: row.developerMode,
    plan: row.developerPlan,
    verification,
  };
  await keepSession(deps.store, requestId, session, row.expiresAt, deps.clock());
  const csrfToken = csrfTokenOf(deps.keyRing, requestId, secret);
  const request = shownRequest(row, csrfToken, verification);
  return { opened: { id: requestId, csrfToken, verification, request }, secret, expiresAt: row.expiresAt };
}

async function keepSession(
  store: EphemeralStore,
  requestId: string,
  session: Session,
  until: Date,
  now: Date,
) {
  const seconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000));
  await store.put([{ key: sessionKey(requestId), value: JSON.stringify(session), seconds }]);
}

async function verify(deps: ConsentDeps, row: ShownRow, hint: string | undefined, caller: Caller) {
  const now = deps.clock();
  const isGood = hint !== undefined && (await isGoodHint(hint, row, { issuer: deps.issuer, now }));
  if (hint !== undefined && !isGood) {
    const { agentId, agentDid, principalId } = row;
    const data = { authRequestId: row.id, method: 'hint' };
    const about = { agentId, agentDid, principalId };
    const attempt = { action: 'consent.verification_failed', about, data } as const;
    await inTransaction(deps.db, (tx) => recordBlocked(tx, caller, attempt, now));
  }
  return verificationOf({
    mode: row.developerMode,
    consentMode: row.consentMode,
    hasConsentKeys: Array.isArray(row.consentKeys) && row.consentKeys.length > 0,
    hint: hint === undefined ? undefined : isGood ? 'good' : 'bad',
    proofIsRequired: deps.principalProof === 'required',
  });
}

/** Who asks, when a browser does. @throws UNAUTHORIZED without the session of this request, FORBIDDEN, CONSENT_REQUIRED */
export function authenticateConsent(deps: Pick<ConsentDeps, 'store' | 'keyRing' | 'publicBaseUrl'>) {
  return async (browser: BrowserRequest): Promise<Caller> => {
    const { recordId, cookies, csrfToken = '', isWrite, hasAuthorization } = browser;
    if (hasAuthorization) {
      throw new AppError('CONSENT_REQUIRED', 'Only the person can decide this, in a browser.');
    }
    const secret = cookies[cookieName(recordId, deps.publicBaseUrl)];
    const session = secret === undefined ? undefined : await findSession(deps.store, recordId);
    if (!secret || !session || !isSame(session.hash, hashOf(secret).toString('base64url'))) {
      throw new AppError(
        'UNAUTHORIZED',
        'This browser has not opened this request; use the link you were sent.',
      );
    }
    if (isWrite && !isSame(csrfToken, csrfTokenOf(deps.keyRing, recordId, secret))) {
      throw new AppError('FORBIDDEN', 'Send `X-CSRF-Token` as the page was given it.');
    }
    return callerOf({ ...session, developerMode: session.mode, developerPlan: session.plan }, browser);
  };
}

/** @throws UNAUTHORIZED when the session is gone meanwhile, GONE when the request is no longer open */
export async function showRequest(
  deps: ConsentDeps,
  { tenant }: Caller,
  requestId: string,
  secret: string,
): Promise<ShownRequest> {
  const verification = await verificationIn(deps.store, requestId);
  const row = await pendingRow(deps, tenant.developerId, requestId);
  return shownRequest(row, csrfTokenOf(deps.keyRing, requestId, secret), verification);
}

/** What this session has proved. @throws UNAUTHORIZED when it is gone meanwhile */
export async function verificationIn(store: EphemeralStore, requestId: string): Promise<Verification> {
  const session = await findSession(store, requestId);
  if (!session) throw new AppError('UNAUTHORIZED', 'The session ended; use the link you were sent.');
  return session.verification;
}

/** @throws NOT_FOUND, GONE */
async function pendingRow(deps: ConsentDeps, developerId: string, requestId: string): Promise<ShownRow> {
  const row = await findShown(deps.db, { developerId }, requestId);
  if (!row) throw notFound();
  const status = statusAt(row, deps.clock());
  if (status !== 'pending') throw gone(status);
  return row;
}

/** Its name has the request's id in it, so that two requests in two tabs do not disturb each other. */
export function cookieName(requestId: string, publicBaseUrl: string): string {
  return `${isSecure(publicBaseUrl) ? '__Host-' : ''}bh_consent_${requestId}`;
}

export const isSecure = (publicBaseUrl: string) => publicBaseUrl.startsWith('https:');

function csrfTokenOf(keyRing: KeyRing, requestId: string, secret: string): string {
  const { current } = keyRing.derive('behest/consent-csrf/v1');
  return createHmac('sha256', current).update(`${requestId}.${secret}`).digest('base64url');
}

async function findSession(store: EphemeralStore, requestId: string): Promise<Session | undefined> {
  const found = await store.get(sessionKey(requestId));
  return found === undefined ? undefined : JSON.parse(found);
}

const isSame = (a: string, b: string) =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

function callerOf(
  {
    developerId,
    developerMode,
    developerPlan,
  }: Pick<ShownRow, 'developerId' | 'developerMode' | 'developerPlan'>,
  { requestId, ip, userAgent }: { requestId: string; ip: string; userAgent: string | undefined },
): Caller {
  return {
    tenant: { developerId },
    actor: 'principal',
    role: 'runtime',
    mode: developerMode,
    plan: developerPlan,
    requestId,
    browser: { ip, userAgent: userAgent ?? null },
  };
}

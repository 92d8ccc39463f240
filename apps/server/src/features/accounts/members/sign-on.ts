import type { Caller, Tenant } from '../../../platform/caller.ts';
import { inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { hashOf, newId } from '../../../platform/ids.ts';
import { discoverConnection, loginPath, readSessionCookie } from '../../people/sso/index.ts';
import { type ConsoleSignOn, consoleSignOnOf } from '../../people/sso/sessions.queries.ts';
import { findTwoOfConsole } from '../../people/sso/sso.queries.ts';
import { recordActs, recordBlockedAttempt, recordEntry } from '../../record/audit/index.ts';
import { findCallerParts } from '../developers/developers.queries.ts';
import { lockOpenAccount } from '../developers/index.ts';
import { deleteInvitationsOf } from './invitations.repo.ts';
import {
  deleteOtherSessions,
  insertMember,
  listMemberRows,
  lockMemberOfSso,
  type MemberRow,
  updateMember,
} from './members.repo.ts';
import { MAX_MEMBERS, SIGN_ON_MS } from './members.rules.ts';
import type { SignOnQuery } from './members.schema.ts';
import {
  type ConsoleBrowser,
  type MemberDeps,
  type OpenedConsole,
  openConsoleSession,
  unauthorized,
} from './session.ts';

/** Where the console goes on after a sign-in at a provider. */
const BACK = '/console#sso=1';

/**
 * Finds where the members of an organisation sign in.
 * @returns the path of a login there, which ends at the console
 * @throws BAD_REQUEST, NOT_FOUND, SSO_DOMAIN_REQUIRED
 */
export async function beginSignOn(deps: MemberDeps, { org, domain }: SignOnQuery): Promise<string> {
  const { developerId, connectionId } =
    domain === undefined ? await connectionOf(deps, org) : await connectionAt(deps, domain);
  // A browser that was left signed in at the provider is not its owner: the provider asks again, and says when it did.
  const more = new URLSearchParams({ mode: 'redirect', return_to: BACK, max_age: `${SIGN_ON_MS / 1000}` });
  return `${loginPath(developerId, connectionId)}&${more}`;
}

async function connectionAt(deps: MemberDeps, domain: string) {
  const { org: developerId, connectionId } = await discoverConnection(deps, { domain });
  const [found] = await findTwoOfConsole(deps.db, { developerId }, connectionId);
  if (found === undefined) throw notFound();
  return { developerId, connectionId };
}

async function connectionOf({ db }: MemberDeps, org: string | undefined) {
  if (org === undefined) throw badField('domain', 'required');
  const tenant = { developerId: org };
  const [connectionId, other] = await findTwoOfConsole(db, tenant);
  if (connectionId === undefined) throw notFound();
  if (other === undefined) return { ...tenant, connectionId };
  throw new AppError('SSO_DOMAIN_REQUIRED', 'Send the `domain` of the person who signs in.');
}

/**
 * Opens the console by a sign-in at a provider of the account that has just been. It makes a member of a person whose groups
 * have a role, and reads the role anew each time. An address finds nobody: a provider speaks only for its own subjects.
 * @param cookie of the session at the provider
 * @throws UNAUTHORIZED, FORBIDDEN, SSO_NOT_PROVISIONED, CONFLICT
 */
export async function signOn(
  deps: MemberDeps,
  cookie: string | undefined,
  { requestId, ...browser }: ConsoleBrowser & { readonly requestId: string },
): Promise<OpenedConsole> {
  const at = deps.clock();
  const named = readSessionCookie(cookie);
  const tenant = { developerId: named?.developerId ?? '' };
  const found = await consoleSignOnOf(deps.db, tenant, { now: at, cookie: named });
  if (!found || at.getTime() - found.createdAt.getTime() > SIGN_ON_MS) throw signInAgain();
  const parts = await findCallerParts(deps.db, tenant);
  if (!parts) throw unauthorized();
  const actor = `sso:${found.connectionId}`;
  const shared = { tenant, agentIds: null, role: 'full', ...parts, requestId } as const;
  const caller: Caller = { ...shared, actor, address: browser.ip };
  const opened = await inTransaction(deps.db, (tx) => enter(deps, tx, caller, { found, browser }));
  if (opened) return opened;
  const attempt = { action: 'console.sign_in_failed', about: {} } as const;
  const data = { connectionId: found.connectionId, code: 'SSO_NOT_PROVISIONED' };
  await inTransaction(deps.aside, (tx) => recordBlockedAttempt(tx, caller, { ...attempt, data }, at));
  const message = 'None of your groups opens this console. Ask an owner of the account.';
  throw new AppError('SSO_NOT_PROVISIONED', message);
}

const signInAgain = () => new AppError('UNAUTHORIZED', 'Sign in with your organisation first.');

interface Entering {
  readonly found: ConsoleSignOn;
  readonly browser: ConsoleBrowser;
}

/** @returns undefined for a person without a role, whose sessions end */
async function enter(
  deps: MemberDeps,
  tx: Tx,
  caller: Caller,
  { found, browser }: Entering,
): Promise<OpenedConsole | undefined> {
  const at = deps.clock();
  const { tenant } = caller;
  await lockOpenAccount(tx, tenant);
  const known = await lockMemberOfSso(tx, tenant, found.connectionId, hashOf(found.subject));
  if (known?.status === 'suspended') throw new AppError('FORBIDDEN', 'This member is suspended.');
  const { role } = found;
  if (known && known.role !== role) await endAuthority(tx, tenant, known.id);
  if (!role) return undefined;
  const member = known
    ? await updateMember(tx, tenant, known.id, { role, ...shownAs(found) })
    : await join(tx, caller, { ...found, role }, at);
  const opening = { openedBy: 'sso', keyId: null, needsPasskey: false, steppedUpAt: null } as const;
  const session = await openConsoleSession(deps, tx, member, { ...opening, ssoSession: found }, browser);
  const { id: memberId, status } = member;
  const { sessionId } = session.opened;
  if (!known) {
    const data = { memberId, role, openedBy: 'sso' };
    await recordActs(tx, caller, [{ type: 'member.joined', data }], at);
  } else if (known.role !== role) {
    const data = { memberId, changed: ['role'], role, status };
    await recordActs(tx, caller, [{ type: 'member.updated', data }], at);
  } else {
    const own = { ...caller, actor: `member:${memberId}` };
    const data = { memberId, sessionId, openedBy: 'sso' };
    await recordEntry(tx, own, { action: 'console.signed_in', data }, at);
  }
  return session;
}

/** What a member could do before their groups changed. */
async function endAuthority(tx: Tx, tenant: Tenant, memberId: string): Promise<void> {
  await deleteOtherSessions(tx, tenant, memberId, '');
  await deleteInvitationsOf(tx, tenant, memberId);
}

const LONGEST_NAME = 100; // characters, as of every member

const shownAs = ({ name, email }: ConsoleSignOn) => ({
  email: email?.toLowerCase() ?? null,
  displayName: [...(name ?? email ?? 'Member')].slice(0, LONGEST_NAME).join(''),
});

/** @throws CONFLICT */
async function join(
  tx: Tx,
  { tenant, actor }: Caller,
  found: ConsoleSignOn & { readonly role: MemberRow['role'] },
  at: Date,
): Promise<MemberRow> {
  if ((await listMemberRows(tx, tenant)).length >= MAX_MEMBERS) {
    throw new AppError(
      'CONFLICT',
      `An account has ${MAX_MEMBERS} members at most. Ask an owner to remove one.`,
    );
  }
  const { connectionId: ssoConnectionId, role } = found;
  const named = { ssoConnectionId, ssoSubject: hashOf(found.subject), ...shownAs(found) };
  return insertMember(tx, tenant, {
    ...{ id: newId('mem', at), role, invitedBy: actor, createdAt: at },
    ...named,
  });
}

import type { Caller, Tenant } from '../../../platform/caller.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { listPasskeysOf } from '../../people/passkeys/index.ts';
import { recordActs, recordEntry } from '../../record/audit/index.ts';
import { findCallerParts } from '../developers/developers.queries.ts';
import { lockOpenAccount } from '../developers/index.ts';
import { keepLink, type NamedPerson, takeLink } from './link.ts';
import { firstOwnerMail, tellOwners } from './mail.ts';
import { insertMember, isKeyUsable, listMemberRows, type MemberRow } from './members.repo.ts';
import {
  LINK_SECONDS,
  MAX_MEMBERS,
  memberOwner,
  needsPasskeyAfterKey,
  withAddress,
} from './members.rules.ts';
import type { ConsoleLink, NewConsoleLink, SignInByKey } from './members.schema.ts';
import { openByRecovery } from './recover.ts';
import { type ConsoleBrowser, type MemberDeps, type OpenedConsole, openConsoleSession } from './session.ts';

/** The key by which somebody signs in. */
interface KeyCaller extends Caller {
  readonly keyId: string;
}

/**
 * Opens the console with a `full` API key, which makes the first owner. Once there is a member, a live account refuses it:
 * whoever finds a key must not let themselves in. @throws FORBIDDEN, CONFLICT
 */
export const signInByKey = (
  deps: MemberDeps,
  caller: Caller,
  person: SignInByKey,
  browser: ConsoleBrowser,
): Promise<OpenedConsole> =>
  inTransaction(deps.db, (tx) => openByKey(deps, tx, byKey(caller), { person, browser, openedBy: 'key' }));

function byKey({ keyId, ...caller }: Caller): KeyCaller {
  if (keyId === undefined) throw new Error('The caller has no API key.');
  return { ...caller, keyId };
}

interface Entering {
  readonly person: NamedPerson;
  readonly browser: ConsoleBrowser;
  readonly openedBy: 'key' | 'link';
}

async function openByKey(
  deps: MemberDeps,
  tx: Tx,
  caller: KeyCaller,
  { person, browser, openedBy }: Entering,
): Promise<OpenedConsole> {
  const at = deps.clock();
  const account = await lockOpenAccount(tx, caller.tenant);
  const members = await listMemberRows(tx, caller.tenant);
  const lone = await withoutPasskey(tx, caller, members);
  if (!lone) mustTakeKey(caller, members);
  const email = (person.email ?? (members.length === 0 ? account.email : undefined))?.toLowerCase() ?? null;
  const known = lone ?? knownAmong(members, email);
  if (known?.status === 'suspended') throw new AppError('FORBIDDEN', 'This member is suspended.');
  if (!known && members.length >= MAX_MEMBERS) {
    throw new AppError('CONFLICT', `An account has ${MAX_MEMBERS} members at most. Remove one first.`);
  }
  const newcomer = { email, displayName: person.displayName ?? 'Owner', role: 'owner', at } as const;
  const member = known ?? (await join(tx, caller, newcomer));
  if (members.length === 0) await tellOwners(deps, tx, caller.tenant, member.displayName, firstOwnerMail);
  const { keyId } = caller;
  const needsPasskey = needsPasskeyAfterKey(caller);
  const opening = { openedBy, keyId, needsPasskey, steppedUpAt: null };
  const session = await openConsoleSession(deps, tx, member, opening, browser);
  const { id: memberId, role } = member;
  if (known) {
    const data = { memberId, sessionId: session.opened.sessionId, openedBy };
    await recordEntry(tx, caller, { action: 'console.signed_in', data }, at);
  } else {
    await recordActs(tx, caller, [{ type: 'member.joined', data: { memberId, role, openedBy } }], at);
  }
  return session;
}

/** The first owner of a live account, as long as they have registered no passkey: their session may have ended before. */
async function withoutPasskey(
  db: Executor,
  { mode, tenant }: Caller,
  members: readonly MemberRow[],
): Promise<MemberRow | undefined> {
  const [first, ...others] = members;
  if (!first || others.length > 0 || mode === 'sandbox') return undefined;
  return (await listPasskeysOf(db, tenant, memberOwner(first.id))).length === 0 ? first : undefined;
}

/** @throws FORBIDDEN */
function mustTakeKey({ mode }: Caller, members: readonly MemberRow[]): void {
  if (members.length === 0 || mode === 'sandbox') return;
  const message =
    'This account has members, so an API key no longer opens its console. Sign in with your passkey, or ask an owner for an invitation.';
  throw new AppError('FORBIDDEN', message);
}

/** The member with an address, or the longest owner where none was named. */
const knownAmong = (members: readonly MemberRow[], email: string | null): MemberRow | undefined =>
  email === null
    ? members.find(({ role, status }) => role === 'owner' && status === 'active')
    : withAddress(members, email);

function join(
  tx: Tx,
  { tenant, actor }: Caller,
  { at, ...person }: Pick<MemberRow, 'email' | 'displayName' | 'role'> & { readonly at: Date },
): Promise<MemberRow> {
  const id = newId('mem', at);
  return insertMember(tx, tenant, { id, ...person, invitedBy: actor, createdAt: at });
}

/** Makes a link that opens the console once, as the key that asks would. @throws FORBIDDEN */
export async function createLink(
  deps: MemberDeps,
  caller: Caller,
  person: NewConsoleLink,
): Promise<ConsoleLink> {
  const { keyId, tenant } = byKey(caller);
  const members = await listMemberRows(deps.db, tenant);
  if (!(await withoutPasskey(deps.db, caller, members))) mustTakeKey(caller, members);
  return keepLink(deps, { ...person, ...tenant, keyId }, LINK_SECONDS);
}

/** Opens the console by a link, once. @throws NOT_FOUND, FORBIDDEN, CONFLICT */
export async function openByLink(
  deps: MemberDeps,
  secret: string,
  { requestId, ...browser }: ConsoleBrowser & { readonly requestId: string },
): Promise<OpenedConsole> {
  const at = deps.clock();
  const { developerId, keyId, displayName, email } = await takeLink(deps, secret);
  const tenant = { developerId };
  if (keyId === undefined) {
    if (displayName === undefined || email === undefined) throw notFound();
    return openByRecovery(deps, tenant, { person: { displayName, email }, browser, requestId });
  }
  if (!(await isKeyUsable(deps.db, tenant, keyId, at))) throw notFound();
  const person = { ...(displayName !== undefined && { displayName }), ...(email !== undefined && { email }) };
  const caller = await callerOf(deps, tenant, keyId, requestId);
  return inTransaction(deps.db, (tx) =>
    openByKey(deps, tx, { ...caller, address: browser.ip }, { person, browser, openedBy: 'link' }),
  );
}

/** The key of a link, as the caller of its acts. @throws NOT_FOUND when the account is gone */
async function callerOf(
  { db }: MemberDeps,
  tenant: Tenant,
  keyId: string,
  requestId: string,
): Promise<KeyCaller> {
  const parts = await findCallerParts(db, tenant);
  if (!parts) throw notFound();
  return { tenant, agentIds: null, actor: `developer:${keyId}`, keyId, role: 'full', ...parts, requestId };
}

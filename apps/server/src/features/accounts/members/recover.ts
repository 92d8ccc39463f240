import { randomBytes } from 'node:crypto';
import type { Caller, OperatorCaller, Tenant } from '../../../platform/caller.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { hashOf, newId } from '../../../platform/ids.ts';
import { listPasskeysOf } from '../../people/passkeys/index.ts';
import { recordActs, recordBlockedAttempt, recordEntry } from '../../record/audit/index.ts';
import { recordForOperator } from '../../service/operator/index.ts';
import { findCallerParts } from '../developers/developers.queries.ts';
import { lockOpenAccount } from '../developers/index.ts';
import { keepLink } from './link.ts';
import { codeUsedMail, recoveredMail, recoveryMail, tellOwners } from './mail.ts';
import {
  countRecoveryCodes,
  findMember,
  findRecoveryCodeAcrossTenants,
  insertMember,
  listMemberRows,
  lockMember,
  type MemberRow,
  replaceRecoveryCodes,
  updateMember,
  useRecoveryCode,
} from './members.repo.ts';
import {
  MAX_MEMBERS_RECOVERED,
  memberOwner,
  needsPasskeyAfterKey,
  RECOVERY_CODES,
  RECOVERY_SECONDS,
  withAddress,
} from './members.rules.ts';
import type { ConsoleLink, RecoverByCode, RecoveryCodes, SignInByKey } from './members.schema.ts';
import {
  type ConsoleBrowser,
  type MemberDeps,
  memberIn,
  type OpenedConsole,
  openConsoleSession,
  unauthorized,
} from './session.ts';

/**
 * Makes a link that lets a person into the console of an account as an owner, whoever its owners are: none of them may be
 * able to sign in, or a stranger with a key was the first. The account's address and its owners are told.
 * @throws NOT_FOUND, CONFLICT
 */
export function beginConsoleRecovery(
  deps: MemberDeps,
  operator: OperatorCaller,
  { developerId }: Tenant,
  person: SignInByKey,
): Promise<ConsoleLink> {
  const tenant = { developerId };
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    const caller = await callerFor(tx, tenant, operator);
    await lockOpenAccount(tx, tenant);
    const email = person.email.toLowerCase();
    const members = await listMemberRows(tx, tenant);
    const known = ownerOf(members, email);
    if (!known && withAddress(members, email)) {
      const message = 'A member who is no active owner has this address. Name another one.';
      throw new AppError('CONFLICT', message, { field: 'email' });
    }
    await tellOwners(deps, tx, tenant, person.displayName, recoveryMail);
    const link = await keepLink(deps, { ...tenant, ...person, email }, RECOVERY_SECONDS);
    const data = { expiresAt: link.expiresAt };
    await recordActs(tx, caller, [{ type: 'member.recovery_requested', data }], at);
    const act = { action: 'member.recovery_requested', data: { developerId, ...data } };
    await recordForOperator(tx, operator, [act], at);
    return link;
  });
}

/** The owner who has an address, whose passkeys a new one replaces. @throws CONFLICT where nobody else can be let in */
function ownerOf(members: readonly MemberRow[], email: string): MemberRow | undefined {
  const known = members.find(
    (each) => each.email === email && each.role === 'owner' && each.status === 'active',
  );
  if (!known && members.length >= MAX_MEMBERS_RECOVERED)
    throw new AppError('CONFLICT', 'The account has no place for another member. Remove one first.');
  return known;
}

interface Recovering {
  readonly person: SignInByKey;
  readonly browser: ConsoleBrowser;
  readonly requestId: string;
}

/**
 * Opens the console by a link of the operator, to nothing but the registration of a passkey. Whoever is a member already can
 * neither take the person's place nor put them out again within the hour.
 * @throws NOT_FOUND, CONFLICT
 */
export function openByRecovery(
  deps: MemberDeps,
  tenant: Tenant,
  { person, browser, requestId }: Recovering,
): Promise<OpenedConsole> {
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    const operator = await callerFor(tx, tenant, { actor: 'admin', requestId });
    await lockOpenAccount(tx, tenant);
    const members = await listMemberRows(tx, tenant);
    const known = ownerOf(members, person.email);
    const protectedUntil = new Date(at.getTime() + RECOVERY_SECONDS * 1000);
    const isTaken = withAddress(members, person.email) !== undefined; // by nobody who is an owner
    const member = known
      ? await updateMember(tx, tenant, known.id, { protectedUntil })
      : await insertMember(tx, tenant, {
          ...{ id: newId('mem', at), ...person, ...(isTaken && { email: null }) },
          ...{ role: 'owner', invitedBy: operator.actor, createdAt: at, protectedUntil },
        });
    await tellOwners(deps, tx, tenant, member.displayName, recoveredMail);
    const needsPasskey = needsPasskeyAfterKey(operator);
    const opening = { openedBy: 'recovery', keyId: null, needsPasskey, steppedUpAt: null } as const;
    const session = await openConsoleSession(deps, tx, member, opening, browser);
    const { id: memberId, role } = member;
    const caller = { ...operator, actor: `member:${memberId}`, address: browser.ip };
    const { sessionId } = session.opened;
    if (known) {
      const data = { memberId, sessionId, openedBy: 'recovery' };
      await recordEntry(tx, caller, { action: 'console.signed_in', data }, at);
    } else {
      const data = { memberId, role, openedBy: 'recovery' };
      await recordActs(tx, caller, [{ type: 'member.joined', data }], at);
    }
    return session;
  });
}

const CODE_CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'; // RFC 4648, section 6

/** 80 random bits, so that a plain hash is enough to store them. */
const newCode = () => [...randomBytes(16)].map((byte) => CODE_CHARACTERS.charAt(byte & 31)).join('');

/** A code as somebody typed it from paper. */
const hashOfCode = (typed: string) => hashOf(typed.replace(/[\s-]/g, '').toUpperCase());

/** Gives a member other recovery codes, in the transaction of what they are made with. */
export async function makeCodes(
  { clock }: Pick<MemberDeps, 'clock'>,
  tx: Tx,
  { tenant }: Pick<Caller, 'tenant'>,
  memberId: string,
): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, newCode);
  await replaceRecoveryCodes(tx, tenant, memberId, codes.map(hashOf), clock());
  return codes;
}

/** Makes the caller other recovery codes. Those from before end. @throws CONFLICT without an address or a passkey */
export function renewCodes(deps: MemberDeps, caller: Caller): Promise<RecoveryCodes> {
  const { tenant } = caller;
  const { memberId } = memberIn(caller);
  return inTransaction(deps.db, async (tx) => {
    const member = await lockMember(tx, tenant, memberId);
    if (!member) throw unauthorized();
    const isUsable =
      member.email !== null &&
      member.ssoConnectionId === null &&
      (await listPasskeysOf(tx, tenant, memberOwner(memberId))).length > 0;
    if (!isUsable) {
      const message = 'Recovery codes stand in for a passkey, beside an address. Register a passkey first.';
      throw new AppError('CONFLICT', message);
    }
    const recoveryCodes = await makeCodes(deps, tx, caller, memberId);
    await recordEntry(tx, caller, { action: 'member.recovery_codes_made', data: { memberId } }, deps.clock());
    return { recoveryCodes };
  });
}

/** One sentence for every reason. */
const openNothing = () =>
  new AppError('UNAUTHORIZED', 'This address and this code open no console. A code works once.');

/**
 * Opens the console by a recovery code, to nothing but the registration of a passkey. Those of the member stay, and all owners
 * are told.
 * @throws UNAUTHORIZED
 */
export async function recoverByCode(
  deps: MemberDeps,
  { email, code }: RecoverByCode,
  { requestId, ...browser }: ConsoleBrowser & { readonly requestId: string },
): Promise<OpenedConsole> {
  const at = deps.clock();
  const codeHash = hashOfCode(code);
  const found = await findRecoveryCodeAcrossTenants(deps.db, codeHash);
  if (!found) throw openNothing();
  const { memberId } = found;
  const tenant = { developerId: found.developerId };
  const isMeant = (member: MemberRow | undefined) =>
    member?.status === 'active' && member.ssoConnectionId === null && member.email === email.toLowerCase();
  const parts = await findCallerParts(deps.db, tenant);
  if (!parts) throw openNothing();
  const named = { actor: `member:${memberId}`, requestId, address: browser.ip };
  const caller = { tenant, agentIds: null, role: 'full', ...parts, ...named } as const;
  if (!isMeant(await findMember(deps.db, tenant, memberId))) {
    const data = { memberId, code: 'UNAUTHORIZED', check: 'recovery' };
    const attempt = { action: 'console.sign_in_failed', about: {}, data } as const;
    await inTransaction(deps.aside, (tx) => recordBlockedAttempt(tx, caller, attempt, at));
    throw openNothing();
  }
  return inTransaction(deps.db, async (tx) => {
    await lockOpenAccount(tx, tenant);
    const member = await lockMember(tx, tenant, memberId);
    const isUsed = member && isMeant(member) && (await useRecoveryCode(tx, tenant, memberId, codeHash));
    if (!isUsed) throw openNothing();
    await tellOwners(deps, tx, tenant, member.displayName, codeUsedMail);
    const opening = { openedBy: 'code', keyId: null, needsPasskey: true, steppedUpAt: null } as const;
    const session = await openConsoleSession(deps, tx, member, opening, browser);
    const codesLeft = await countRecoveryCodes(tx, tenant, memberId);
    await recordActs(tx, caller, [{ type: 'console.recovery_used', data: { memberId, codesLeft } }], at);
    return session;
  });
}

/** @throws NOT_FOUND */
async function callerFor(
  db: Executor,
  tenant: Tenant,
  { actor, requestId }: OperatorCaller,
): Promise<Caller> {
  const parts = await findCallerParts(db, tenant);
  if (!parts) throw notFound();
  return { tenant, agentIds: null, actor, role: 'full', ...parts, requestId };
}

import { isDeepStrictEqual } from 'node:util';
import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { notFound, scimRefusal } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { holdDelegations } from '../../access/grants/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import { userType } from './scim.attributes.rules.ts';
import { touchGroupsOf } from './scim.groups.repo.ts';
import type { OnUserLeft } from './scim.hooks.ts';
import { type Offboarded, offboard } from './scim.offboard.service.ts';
import { patched, readOperations } from './scim.patch.rules.ts';
import { isPrincipalTaken, writePrincipals } from './scim.principals.repo.ts';
import { lockDirectory } from './scim.repo.ts';
import { type Document, isObject, readDocument } from './scim.resource.rules.ts';
import { cursorAfter, readSearch } from './scim.search.rules.ts';
import {
  deleteUserRow,
  findUser,
  forgetSignal,
  insertUser,
  listGroupsOfUsers,
  searchUsers,
  type UserRow,
  updateUser,
  writeEmails,
} from './scim.users.repo.ts';
import {
  addressesOf,
  columnsOf,
  entityTag,
  listResponse,
  principalValues,
  shownUser,
  storable,
} from './scim.users.rules.ts';
import { isKnownVersion, mustBeVersion } from './scim.versions.rules.ts';
import { isShown, readView, type View, viewed } from './scim.view.rules.ts';

export interface DirectoryDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly store: EphemeralStore;
  readonly publicBaseUrl: string;
  readonly onUserLeft: readonly OnUserLeft[];
}

/** A resource as a client sees it, with its entity tag. */
export interface Seen {
  readonly resource: Readonly<Record<string, unknown>>;
  readonly location: string;
  readonly tag: string;
}

/** The parts of a request beside its body. */
export interface Asked {
  readonly query: object;
  readonly ifMatch?: string | undefined;
}

/** @throws invalidValue, invalidSyntax, uniqueness */
export function createUser(deps: DirectoryDeps, caller: Caller, body: object, query: object): Promise<Seen> {
  const view = readView(userType, query);
  const document = storable(readDocument(userType, body));

  return inTransaction(deps.db, async (tx) => {
    const { row, created } = await addUserWithin(tx, caller, document, deps.clock());
    await recordActs(tx, caller, [created], row.createdAt);
    return seen(deps, { ...row, attributes: document }, [], view);
  });
}

/** Adds a user in a transaction of the caller, who records the act. @throws uniqueness */
export async function addUserWithin(
  tx: Tx,
  caller: Caller,
  document: Document,
  at: Date,
): Promise<{ row: NewRow; created: Act }> {
  await lockDirectory(tx, caller.tenant);
  const row = rowOf({ id: newId('scimuser', at), version: 1, createdAt: at }, document, at);
  await mustBeFree(tx, caller, row.id, document);
  await insertUser(tx, caller.tenant, row);
  await writeEmails(tx, caller.tenant, row.id, addressesOf(document), true);
  await writeIds(tx, caller, row, document, true);
  return { row, created: { type: 'scim.user.created', data: dataOf(row) } };
}

/** @throws NOT_FOUND */
export async function getUser(deps: DirectoryDeps, caller: Caller, id: string, query: object): Promise<Seen> {
  const view = readView(userType, query);
  const row = await findUser(deps.db, caller.tenant, id);
  if (!row) throw notFound();
  return seen(deps, row, await groupsOf(deps.db, caller, [id], view), view);
}

/** @throws invalidFilter, invalidValue, invalidCursor */
export async function listUsers(deps: DirectoryDeps, caller: Caller, query: object) {
  const [view, search] = [readView(userType, query), readSearch(userType, query)];
  const { rows, total } = await searchUsers(deps.db, caller.tenant, search);
  const page = rows.slice(0, search.count);
  const ids = page.map(({ id }) => id);
  const groups = Map.groupBy(await groupsOf(deps.db, caller, ids, view), ({ userId }) => userId);
  const resources = page.map((row) => seen(deps, row, groups.get(row.id) ?? [], view).resource);
  return listResponse({
    total,
    resources,
    startIndex: search.startIndex,
    nextCursor: cursorAfter(search, rows),
  });
}

/**
 * Attributes that the body leaves out are cleared. `active` stays as it is, so that nobody returns by an omission.
 * @throws NOT_FOUND, PRECONDITION_FAILED, invalidValue, uniqueness
 */
export function replaceUser(
  deps: DirectoryDeps,
  caller: Caller,
  id: string,
  body: object,
  asked: Asked,
): Promise<Seen> {
  const document = readDocument(userType, body);
  return changeUser(deps, caller, id, asked, ({ active }) => storable({ active, ...document }));
}

/** @throws NOT_FOUND, PRECONDITION_FAILED, invalidPath, noTarget, mutability, invalidValue, uniqueness */
export function patchUser(
  deps: DirectoryDeps,
  caller: Caller,
  id: string,
  body: object,
  asked: Asked,
): Promise<Seen> {
  const operations = readOperations(body);
  return changeUser(deps, caller, id, asked, (before) => storable(patched(userType, before, operations, id)));
}

function changeUser(
  deps: DirectoryDeps,
  caller: Caller,
  id: string,
  { query, ifMatch }: Asked,
  change: (before: Document) => Document,
): Promise<Seen> {
  const view = readView(userType, query);
  return inTransaction(deps.db, async (tx) => {
    const before = await lockUser(tx, caller, id, ifMatch);
    const at = deps.clock();
    const was = documentOf(before);
    const document = change(was);
    const groups = await groupsOf(tx, caller, [id], view);
    if (isDeepStrictEqual(document, was)) {
      await forgetSignal(tx, caller.tenant, before); // the client has spoken of the user, so no signal brings them back
      return seen(deps, before, groups, view);
    }

    const row = rowOf({ id, version: before.version + 1, createdAt: before.createdAt }, document, at);
    await mustBeFree(tx, caller, id, document);
    await updateUser(tx, caller.tenant, row);
    if (!isDeepStrictEqual(document.emails, was.emails)) {
      await writeEmails(tx, caller.tenant, id, addressesOf(document), false);
    }
    const leaves = before.active && !row.active;
    if (leaves) await holdDelegations(tx, caller); // before the principals, as in every write that takes both
    const ids = [principalValues(id, document), principalValues(id, was)];
    if (row.active !== before.active || !isDeepStrictEqual(ids[0], ids[1])) {
      await writeIds(tx, caller, row, document, false);
    }
    const ended = leaves ? await offboard(tx, caller, deps, id, at) : undefined;
    await recordActs(tx, caller, [...(ended?.acts ?? []), ...changes(before, row, was, document, ended)], at);
    return seen(deps, { ...row, attributes: document }, groups, view);
  });
}

/**
 * Makes a user active or inactive on the word of a connection's provider, in a transaction of the caller, who holds the
 * directory. A user becomes active only if the same connection made them inactive, and nobody has written them since.
 * @returns the data of the act, or undefined where nothing changes
 */
export async function setActive(
  tx: Tx,
  caller: Caller,
  id: string,
  { active, disabledBy }: { readonly active: boolean; readonly disabledBy: string },
  at: Date,
) {
  const before = await findUser(tx, caller.tenant, id);
  if (!before || before.active === active) return undefined;
  if (active && before.disabledBy !== disabledBy) return undefined;
  const document = { ...documentOf(before), active };
  const known = { id, version: before.version + 1, createdAt: before.createdAt };
  const row = rowOf(known, document, at, active ? null : disabledBy);
  await updateUser(tx, caller.tenant, row);
  await writeIds(tx, caller, row, document, false);
  return dataOf(row);
}

/** @throws NOT_FOUND, PRECONDITION_FAILED */
export function deleteUser(
  deps: DirectoryDeps,
  caller: Caller,
  id: string,
  { ifMatch }: Asked,
): Promise<void> {
  return inTransaction(deps.db, async (tx) => {
    const row = await lockUser(tx, caller, id, ifMatch);
    const at = deps.clock();
    const ended = await offboard(tx, caller, deps, id, at, 'for good');
    await touchGroupsOf(tx, caller.tenant, id, at);
    await deleteUserRow(tx, caller.tenant, id);
    const { grantsRevoked } = ended;
    const deleted: Act = { type: 'scim.user.deleted', data: { ...dataOf(row), grantsRevoked } };
    await recordActs(tx, caller, [...ended.acts, deleted], at);
  });
}

/** @throws NOT_FOUND, PRECONDITION_FAILED */
async function lockUser(tx: Tx, caller: Caller, id: string, ifMatch: string | undefined): Promise<UserRow> {
  await lockDirectory(tx, caller.tenant);
  const row = await findUser(tx, caller.tenant, id);
  if (!row) throw notFound();
  mustBeVersion(ifMatch, entityTag(row.version));
  return row;
}

/** @throws uniqueness */
async function mustBeFree(tx: Tx, { tenant }: Caller, id: string, document: Document): Promise<void> {
  if (await isPrincipalTaken(tx, tenant, id, principalValues(id, document))) {
    throw scimRefusal('uniqueness', 'Another user has this `userName`, `externalId` or principal id.');
  }
}

const writeIds = (tx: Tx, { tenant }: Caller, row: NewRow, document: Document, isNew: boolean) =>
  writePrincipals(
    tx,
    tenant,
    { userId: row.id, isActive: row.active, isNew },
    principalValues(row.id, document),
  );

type NewRow = ReturnType<typeof rowOf>;

/** @param disabledBy the connection whose signal makes the user inactive */
function rowOf(
  known: Pick<UserRow, 'id' | 'version' | 'createdAt'>,
  document: Document,
  at: Date,
  disabledBy: string | null = null,
) {
  return {
    ...known,
    ...columnsOf(document),
    attributes: JSON.stringify(document),
    updatedAt: at,
    disabledBy,
  };
}

const documentOf = ({ attributes }: UserRow): Document => (isObject(attributes) ? { ...attributes } : {});

/** The acts of a change, apart from those of the grants that end with it. */
function changes(
  before: UserRow,
  row: NewRow,
  was: Document,
  document: Document,
  ended: Offboarded | undefined,
): Act[] {
  const data = dataOf(row);
  const isOther = !isDeepStrictEqual({ ...was, active: true }, { ...document, active: true });
  const updated: Act[] = isOther ? [{ type: 'scim.user.updated', data }] : [];
  if (ended) {
    const { grantsRevoked } = ended;
    return [...updated, { type: 'scim.user.deactivated', data: { ...data, grantsRevoked } }];
  }
  return row.active && !before.active ? [...updated, { type: 'scim.user.reactivated', data }] : updated;
}

const dataOf = ({ id, userName, externalId }: Pick<UserRow, 'id' | 'userName' | 'externalId'>) => ({
  userId: id,
  userName,
  ...(externalId !== null && { externalId }),
});

async function groupsOf(db: Executor, { tenant }: Caller, ids: readonly string[], view: View) {
  return isShown(view, 'groups') && ids.length > 0 ? listGroupsOfUsers(db, tenant, ids) : [];
}

function seen(
  { publicBaseUrl }: DirectoryDeps,
  row: Parameters<typeof shownUser>[0],
  groups: Parameters<typeof shownUser>[1],
  view: View,
): Seen {
  const base = `${publicBaseUrl}/scim/v2`;
  const resource = viewed(shownUser(row, groups, base), view);
  return { resource, location: `${base}/Users/${row.id}`, tag: entityTag(row.version) };
}

/** Whether a client has this version of a resource already. */
export const isKnown = ({ tag }: Seen, ifNoneMatch: string | undefined) => isKnownVersion(ifNoneMatch, tag);

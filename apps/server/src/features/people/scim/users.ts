import { isDeepStrictEqual } from 'node:util';
import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { type AppError, notFound, scimRefusal } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import { freeQuota, limitOf, overQuota } from '../../accounts/quotas/index.ts';
import { prepareActs, recordActs } from '../../record/audit/index.ts';
import { userType } from './attributes.rules.ts';
import { touchGroupsOf } from './groups.repo.ts';
import { lockRights, type Offboarded, offboard } from './offboard.ts';
import { patched, readOperations } from './patch.rules.ts';
import { patchWork } from './patch.work.ts';
import { closeNewIds, findHolder, writePrincipals } from './principals.repo.ts';
import { type Document, isObject, readDocument } from './resource.rules.ts';
import { isOfConnection, type Person } from './scim.queries.ts';
import { lockPeople } from './scim.repo.ts';
import {
  deleteUserRow,
  findUser,
  forgetSignal,
  insertUser,
  type UserRefusal,
  type UserRow,
  updateUser,
  writeEmails,
  writeUser,
} from './users.repo.ts';
import { addressesOf, columnsOf, entityTag, personOf, principalValues, storable } from './users.rules.ts';
import { type DirectoryDeps, groupsOf, type ScimRequest, type ShownResource, seen } from './users.show.ts';
import { mustBeVersion, readView } from './view.rules.ts';

/** @throws invalidValue, invalidSyntax, uniqueness, PLAN_LIMIT_EXCEEDED; invalidValue also for one who was offboarded */
export async function createUser(
  deps: DirectoryDeps,
  caller: Caller,
  body: object,
  query: object,
): Promise<ShownResource> {
  const view = readView(userType, query);
  const document = storable(readDocument(userType, body));

  const { row, user, foundBy, created } = newUser(deps.quotas, caller, document, deps.clock());
  mustNotBeOfConnection(foundBy.ids, []);
  const records = prepareActs(caller, [created], row.createdAt);
  const refusal = await writeUser(deps.db, caller.tenant, user, foundBy, records);
  if (refusal) throw await notAdded(deps.db, caller, { refusal, id: row.id, foundBy });
  return seen(deps, user, [], view);
}

/** The row of a new user, the texts by which the user is found, and the act. */
function newUser(quotas: Quotas, caller: Caller, document: Document, at: Date) {
  const row = rowOf({ id: newId('scimuser', at), version: 1, createdAt: at }, document, at);
  const limit = limitOf(quotas, caller, 'scim_people');
  const foundBy = { addresses: addressesOf(document), ids: principalValues(row.id, document), limit };
  const created: Act = { type: 'scim.user.created', data: dataOf(row) };
  return { row, user: { ...row, attributes: document }, foundBy, created };
}

interface NotAdded {
  readonly refusal: UserRefusal;
  readonly id: string;
  readonly foundBy: ReturnType<typeof newUser>['foundBy'];
}

async function notAdded(db: Executor, caller: Caller, { refusal, id, foundBy }: NotAdded): Promise<AppError> {
  if (refusal === 'over_quota') return overQuota(caller, 'scim_people', foundBy.limit);
  if (refusal === 'closed') return offboarded();
  return taken(await findHolder(db, caller.tenant, id, foundBy.ids));
}

/** Adds a user in a transaction of the caller, who records the act. @throws uniqueness, PLAN_LIMIT_EXCEEDED */
async function addUserWithin(
  tx: Tx,
  quotas: Quotas,
  caller: Caller,
  document: Document,
  at: Date,
): Promise<{ row: NewRow; created: Act }> {
  const { row, user, foundBy, created } = newUser(quotas, caller, document, at);
  const refusal = await insertUser(tx, caller.tenant, user, foundBy);
  if (refusal) throw await notAdded(tx, caller, { refusal, id: row.id, foundBy });
  return { row, created };
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
  asked: ScimRequest,
): Promise<ShownResource> {
  const document = readDocument(userType, body);
  return changeUser(deps, caller, id, asked, async ({ active }) => storable({ active, ...document }));
}

/** @throws NOT_FOUND, PRECONDITION_FAILED, invalidPath, noTarget, mutability, invalidValue, uniqueness */
export function patchUser(
  deps: DirectoryDeps,
  caller: Caller,
  id: string,
  body: object,
  asked: ScimRequest,
): Promise<ShownResource> {
  const operations = readOperations(body);
  const subject = { type: userType, id, work: asked.work ?? patchWork() };
  return changeUser(deps, caller, id, asked, async (before) => {
    const { active } = before;
    return storable({ active, ...(await patched(subject, before, operations)) }); // nobody returns by a removal
  });
}

function changeUser(
  deps: DirectoryDeps,
  caller: Caller,
  id: string,
  { query, ifMatch }: ScimRequest,
  change: (before: Document) => Promise<Document>,
): Promise<ShownResource> {
  const view = readView(userType, query);
  return inTransaction(deps.db, async (tx) => {
    const before = await lockUser(tx, caller, id, ifMatch);
    const at = deps.clock();
    const was = documentOf(before);
    const document = await change(was);
    const groups = await groupsOf(tx, caller, [id], view);
    if (isDeepStrictEqual(document, was)) {
      await forgetSignal(tx, caller.tenant, before); // the client has spoken of the user, so no signal brings them back
      return seen(deps, before, groups, view);
    }

    const row = rowOf({ id, version: before.version + 1, createdAt: before.createdAt }, document, at);
    await mustBeFree(tx, caller, id, document);
    await updateUser(tx, caller.tenant, row);
    if (!isDeepStrictEqual(document.emails, was.emails)) {
      await writeEmails(tx, caller.tenant, id, addressesOf(document));
    }
    if (memberName(row) !== memberName(before)) await touchGroupsOf(tx, caller.tenant, id, at);
    const leaves = before.active && !row.active;
    if (leaves) await lockRights(tx, caller, deps);
    const ids = [principalValues(id, document), principalValues(id, was)] as const;
    mustNotBeOfConnection(...ids);
    if (row.active !== before.active || !isDeepStrictEqual(ids[0], ids[1])) {
      if ((await writeIds(tx, caller, row, document)) && row.active) throw offboarded();
    }
    const ended = leaves ? await offboard(tx, caller, deps, id, at) : undefined;
    await recordActs(tx, caller, [...(ended?.acts ?? []), ...changes(before, row, was, document, ended)], at);
    return seen(deps, { ...row, attributes: document }, groups, view);
  });
}

/**
 * Makes a user active or inactive on the word of a connection's provider, or of an offboarding, in a transaction of the caller,
 * who holds the directory. A user becomes active only if the same one made them inactive, nobody has written them since, and
 * they are not offboarded.
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
  if (active && (before.disabledBy !== disabledBy || (await closeNewIds(tx, caller.tenant, id, at))))
    return undefined;
  const document = { ...documentOf(before), active };
  const known = { id, version: before.version + 1, createdAt: before.createdAt };
  const row = rowOf(known, document, at, active ? null : disabledBy);
  await updateUser(tx, caller.tenant, row);
  await writeIds(tx, caller, row, document);
  return dataOf(row);
}

/** @throws NOT_FOUND, PRECONDITION_FAILED */
export function deleteUser(
  deps: DirectoryDeps,
  caller: Caller,
  id: string,
  { ifMatch }: ScimRequest,
): Promise<void> {
  return inTransaction(deps.db, async (tx) => {
    const row = await lockUser(tx, caller, id, ifMatch);
    const at = deps.clock();
    const ended = await offboard(tx, caller, deps, id, at, 'for good');
    await touchGroupsOf(tx, caller.tenant, id, at);
    await deleteUserRow(tx, caller.tenant, id);
    await freeQuota(tx, caller, 'scim_people', 1);
    const { grantsRevoked } = ended;
    const deleted: Act = { type: 'scim.user.deleted', data: { ...dataOf(row), grantsRevoked } };
    await recordActs(tx, caller, [...ended.acts, deleted], at);
  });
}

/** @throws NOT_FOUND, PRECONDITION_FAILED */
async function lockUser(tx: Tx, caller: Caller, id: string, ifMatch: string | undefined): Promise<UserRow> {
  await lockPeople(tx, caller.tenant);
  const row = await findUser(tx, caller.tenant, id);
  if (!row) throw notFound();
  mustBeVersion(ifMatch, entityTag(row.version));
  return row;
}

/** The name of a user in the members of a group. */
const memberName = ({ displayName, userName }: Pick<UserRow, 'displayName' | 'userName'>) =>
  displayName ?? userName;

/** @throws uniqueness */
async function mustBeFree(tx: Tx, { tenant }: Caller, id: string, document: Document): Promise<void> {
  const holder = await findHolder(tx, tenant, id, principalValues(id, document));
  if (holder !== undefined) throw taken(holder);
}

/** Single sign-on alone names people in the space of a connection. @throws invalidValue */
function mustNotBeOfConnection(ids: Ids, before: Ids): void {
  const known = new Set(before.map(({ id }) => id));
  if (!ids.some(({ id }) => isOfConnection(id) && !known.has(id))) return;
  throw scimRefusal(
    'invalidValue',
    'A `userName`, `externalId` or principal id of the form `<connection id>|<subject>` is made by a sign-in alone. Send another.',
  );
}

type Ids = ReturnType<typeof principalValues>;

/** A directory that adds a person again who has come back finds the id here. */
function taken(holder: string | undefined) {
  const who = holder === undefined ? 'Another user' : `The user \`${holder}\``;
  return scimRefusal('uniqueness', `${who} has this \`userName\`, \`externalId\` or principal id.`);
}

/** @returns whether the user is a person who was offboarded; their new ids are closed too then */
async function writeIds(tx: Tx, { tenant }: Caller, row: NewRow, document: Document): Promise<boolean> {
  const { id: userId, active: isActive, updatedAt } = row;
  await writePrincipals(tx, tenant, { userId, isActive }, principalValues(userId, document));
  return closeNewIds(tx, tenant, userId, updatedAt);
}

/** An administrator of a directory reads it in the log of its provisioning. 409 would say there that the user exists. */
const offboarded = () =>
  scimRefusal(
    'invalidValue',
    'This person was offboarded, so the user cannot be `active`. Send `active: false`, or admit the person first: `DELETE /v1/principals/{principalId}/offboarding`.',
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

interface NewPerson {
  readonly userName: string;
  readonly displayName: string | null;
  readonly email: string | null;
}

/** Adds a person who has signed in, and whom nobody has provisioned. @throws uniqueness, invalidValue, PLAN_LIMIT_EXCEEDED */
export async function provisionPerson(
  tx: Tx,
  quotas: Quotas,
  caller: Caller,
  { userName, displayName, email }: NewPerson,
  at: Date,
): Promise<{ person: Person; created: Act }> {
  const document = storable(
    readDocument(userType, {
      userName,
      ...(displayName !== null && { displayName }),
      ...(email !== null && { emails: [{ value: email, primary: true }] }),
    }),
  );
  const { row, created } = await addUserWithin(tx, quotas, caller, document, at);
  return { person: personOf({ ...row, attributes: document }), created };
}

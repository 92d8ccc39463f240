import type { Caller } from '../../../platform/caller.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { badField, notFound } from '../../../platform/errors.ts';
import { recordActs } from '../../record/audit/index.ts';
import { lockPeople } from '../scim/index.ts';
import { type Person, personById, userOfPrincipal } from '../scim/scim.queries.ts';
import type { SsoDeps } from './deps.ts';
import {
  deleteIdentitiesOfUser,
  findIdentity,
  type IdentityRow,
  identitiesOfUser,
  insertIdentity,
} from './identities.repo.ts';
import { placeOf } from './naming.ts';
import { endNamedSessions } from './sessions.ts';
import { type ConnectionRow, findConnection, lockConnection } from './sso.repo.ts';
import type { SsoIdentities, SsoIdentity, SsoIdentityMove, SsoIdentityQuery } from './sso.schema.ts';

type IdentityDeps = Pick<SsoDeps, 'db' | 'clock'>;

/** The subjects by which the provider of a connection knows a person. @throws NOT_FOUND */
export async function listIdentities(
  { db }: IdentityDeps,
  caller: Caller,
  connectionId: string,
  { principalId }: SsoIdentityQuery,
): Promise<SsoIdentities> {
  const row = await findConnection(db, caller.tenant, connectionId);
  if (!row) throw notFound();
  const person = await personOf(db, caller, principalId);
  const found = await identitiesOfUser(db, caller.tenant, placeOf(row), person.userId);
  return { identities: found.map((identity) => toIdentity(identity, row, person)) };
}

/**
 * Links a person to another subject of the provider, and to that one only: their account there is another one now. Whoever
 * had the subject loses it. The sessions of both at the connection end.
 * @throws NOT_FOUND for an unknown connection or person, BAD_REQUEST for a subject of another provider
 */
export function moveIdentity(
  { db, clock }: IdentityDeps,
  caller: Caller,
  connectionId: string,
  { principalId, subject }: SsoIdentityMove,
): Promise<SsoIdentity> {
  const at = clock();
  const { tenant } = caller;
  return inTransaction(db, async (tx) => {
    const row = await lockConnection(tx, tenant, connectionId);
    if (!row) throw notFound();
    mustBeOfProvider(row, subject);
    await lockPeople(tx, tenant); // as a login does, which links people too
    const person = await personOf(tx, caller, principalId);
    const { userId } = person;
    const place = placeOf(row);
    const before = await findIdentity(tx, tenant, place, subject);
    await deleteIdentitiesOfUser(tx, tenant, place, userId);
    const identity = { ...place, subject, userId, createdAt: at };
    await insertIdentity(tx, tenant, identity);
    const ended = await endNamedSessions(tx, caller, connectionId, { userId }, 'identity_moved');
    const isOthers = before !== undefined && before.userId !== userId;
    if (isOthers) {
      const named = { userId: before.userId };
      ended.push(...(await endNamedSessions(tx, caller, connectionId, named, 'identity_moved')));
    }
    const data = { connectionId, userId, ...(isOthers && { fromUserId: before.userId }) };
    await recordActs(tx, caller, [{ type: 'sso.identity.moved', data }, ...ended], at);
    return toIdentity(identity, row, person);
  });
}

/** The key of an identity at a provider of OpenID Connect begins with the issuer. @throws BAD_REQUEST */
function mustBeOfProvider(row: ConnectionRow, subject: string): void {
  const { provider } = placeOf(row);
  const isOwn = [provider, `${provider}/`].some((issuer) => subject.startsWith(`${issuer}|`));
  if (row.protocol !== 'oidc' || isOwn) return;
  const message = `Send the subject as the audit entry \`sso.login_failed\` names it: \`${provider}|<sub>\`.`;
  throw badField('subject', 'format', message);
}

/** @throws NOT_FOUND */
async function personOf(db: Executor, { tenant }: Caller, principalId: string): Promise<Person> {
  const userId = await userOfPrincipal(db, tenant, principalId);
  const person = userId === undefined ? undefined : await personById(db, tenant, userId);
  if (!person) throw notFound();
  return person;
}

const toIdentity = (
  { subject, provider, createdAt }: Pick<IdentityRow, 'subject' | 'provider' | 'createdAt'>,
  row: ConnectionRow,
  { userId, principalId }: Person,
): SsoIdentity => ({
  connectionId: row.id,
  provider: provider ?? placeOf(row).provider,
  subject,
  userId,
  principalId,
  createdAt: createdAt.toISOString(),
});

import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { isVerifiedBy } from '../../accounts/domains/domains.queries.ts';
import { personByAddress, personById, personByUserName } from '../scim/scim.queries.ts';
import {
  connectionsOfUser,
  type SignallingConnection,
  userOfIdpSession,
  userOfSubject,
} from '../sso/signals.queries.ts';
import type { SourceRow } from './signals.repo.ts';
import { isSameIssuer, type Signal } from './signals.rules.ts';

/** The person or session that a signal means, among those of its own connection. */
export interface Meant {
  readonly userId?: string;
  /** The provider's name of a person. They may have a session without being a user. */
  readonly subject?: string;
  /** A live session that the provider names. */
  readonly idpSession?: string;
}

interface Asked {
  readonly connection: SignallingConnection;
  readonly source: SourceRow;
  readonly signal: Signal;
}

/**
 * Finds the subject of a signal: never a user of another connection, and never everybody.
 * @returns undefined where there is nothing to find
 */
export async function meantBy(
  db: Executor,
  tenant: Tenant,
  { connection, source, signal }: Asked,
): Promise<Meant | undefined> {
  const { issuerSubject, email, idpSession, tenant: named } = signal.subject;
  if (source.tenant !== null && named !== source.tenant) return undefined;
  const { id } = connection;
  const session = idpSession === undefined ? undefined : await userOfIdpSession(db, tenant, id, idpSession);
  if (issuerSubject) {
    const { iss, sub } = issuerSubject;
    if (!isSameIssuer(iss, connection.issuer ?? '') && iss !== source.transmitter) return undefined;
    const issuer = connection.issuer ?? iss;
    const spellings = [issuer, issuer.replace(/\/$/, ''), `${issuer}/`].map((each) => `${each}|${sub}`);
    const userId = await livingUser(db, tenant, await userOfSubject(db, tenant, connection, spellings));
    const isOwn = session && (session.userId === null || session.userId === userId);
    return { subject: sub, ...(userId !== undefined && { userId }), ...(isOwn && { idpSession }) };
  }
  if (email !== undefined) {
    const userId = await userAt(db, tenant, connection, email);
    if (userId === undefined) return undefined;
    return { userId, ...(session?.userId === userId && idpSession && { idpSession }) };
  }
  if (!session || !idpSession) return undefined;
  return { idpSession, ...(session.userId !== null && { userId: session.userId }) };
}

/** An identity outlives its user. */
async function livingUser(db: Executor, tenant: Tenant, userId: string | undefined) {
  return userId === undefined ? undefined : (await personById(db, tenant, userId))?.userId;
}

/** The user of an address in a domain that the connection lists and this developer has verified. */
async function userAt(
  db: Executor,
  tenant: Tenant,
  { id, domains }: SignallingConnection,
  email: string,
): Promise<string | undefined> {
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  if (!domains.includes(domain) || !(await isVerifiedBy(db, tenant, domain))) return undefined;
  const person = (await personByUserName(db, tenant, email)) ?? (await personByAddress(db, tenant, email));
  if (!person) return undefined;
  const connections = await connectionsOfUser(db, tenant, person.userId);
  return connections.length === 0 || connections.includes(id) ? person.userId : undefined;
}

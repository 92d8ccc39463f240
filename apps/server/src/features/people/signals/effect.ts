import type { Act } from '../../../platform/acts.ts';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { isVerifiedBy } from '../../accounts/domains/domains.queries.ts';
import { recordActs, recordEntry } from '../../record/audit/index.ts';
import {
  disablePerson,
  enablePerson,
  endForPerson,
  lockPeople,
  type OffboardDeps,
  type Offboarded,
} from '../scim/index.ts';
import { personByAddress, personById, personByUserName } from '../scim/scim.queries.ts';
import { endNamedSessions } from '../sso/index.ts';
import {
  connectionsOfUser,
  findSignallingConnection,
  type SignallingConnection,
  userOfIdpSession,
  userOfSubject,
} from '../sso/sso.queries.ts';
import { onSessionRevokedOf } from './manage.ts';
import { noteSignal, type SourceRow, takeSignal } from './signals.repo.ts';
import { demandOf, isSameIssuer, type Signal, type SignalEffect } from './signals.rules.ts';

export interface EffectDeps extends OffboardDeps {
  readonly db: Executor;
  readonly clock: Clock;
}

/** Does what a signal asks, once. The receipt of the signal, its effect and its entry commit together. */
export function applySignal(
  deps: EffectDeps,
  caller: Caller,
  source: SourceRow,
  signal: Signal,
): Promise<void> {
  const { tenant } = caller;
  const { connectionId } = source;
  const { jti, event } = signal;
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    if (!(await takeSignal(tx, tenant, { connectionId, jti, receivedAt: at }))) return;
    const demand = demandOf(signal);
    const isVerified = demand === 'verify';
    await noteSignal(tx, tenant, connectionId, {
      lastSignalAt: at,
      ...(isVerified && { verifiedAt: at, silentSince: null }),
    });
    if (isVerified) return;
    await lockPeople(tx, tenant);
    const connection = await findSignallingConnection(tx, tenant, connectionId);
    const meant = connection && (await resolveSubject(tx, tenant, { connection, source, signal }));
    if (!meant) {
      const data = { connectionId, event, jti };
      return recordEntry(tx, caller, { action: 'signal.ignored', data }, at);
    }
    const done = await doneFor(tx, caller, deps, { source, connection, signal, meant }, at);
    const { sessions, ended, effect } = done;
    const { userId } = meant;
    const data = {
      ...{ connectionId, event, jti, effect },
      ...(userId !== undefined && { userId }),
      ...(ended.principalIds.length > 0 && { principalIds: ended.principalIds }),
      sessionsEnded: sessions + ended.acts.filter(({ type }) => type === 'sso.session.revoked').length,
      grantsRevoked: ended.grantsRevoked,
    };
    await recordActs(tx, caller, [...done.acts, { type: 'signal.received', data }], at);
  });
}

interface AppliedSignal extends ReceivedSignal {
  readonly meant: Subject;
}

interface Done {
  readonly acts: readonly Act[];
  readonly sessions: number;
  readonly ended: Offboarded;
  readonly effect: SignalEffect;
}

const NOTHING: Offboarded = { acts: [], grantsRevoked: 0, principalIds: [] };

async function doneFor(
  tx: Tx,
  caller: Caller,
  deps: EffectDeps,
  { source, connection, signal, meant }: AppliedSignal,
  at: Date,
): Promise<Done> {
  const demand = demandOf(signal);
  const { userId } = meant;
  const { id: connectionId, enforce: endsSessions, scimManaged } = connection;
  if ((demand === 'disable' || demand === 'purge') && userId !== undefined) {
    const howLong = demand === 'purge' ? ({ howLong: 'for good' } as const) : {};
    const ended = await disablePerson(tx, caller, deps, { userId, connectionId, ...howLong }, at);
    const did = demand === 'purge' ? 'purged' : 'deactivated';
    return { acts: ended.acts, sessions: 0, ended, effect: ended.acts.length > 0 ? did : 'none' };
  }
  if (demand === 'enable' && userId !== undefined && !scimManaged) {
    const acts = await enablePerson(tx, caller, { userId, connectionId }, at);
    return { acts, sessions: 0, ended: NOTHING, effect: acts.length > 0 ? 'reactivated' : 'none' };
  }
  if (demand !== 'revoke' && demand !== 'sessions') {
    return { acts: [], sessions: 0, ended: NOTHING, effect: 'none' };
  }
  const GRANTS = { sessions: 'none', idp: 'sso', all: 'all' } as const;
  const grants = demand === 'revoke' ? GRANTS[onSessionRevokedOf(source)] : 'none';
  const ended =
    userId === undefined
      ? NOTHING
      : await endForPerson(tx, caller, deps, userId, { grants, endsSessions }, at);
  const sessions = await endNamedSessions(tx, caller, connectionId, {
    ...meant,
    idpSession: demand === 'revoke' ? meant.idpSession : undefined,
  });
  return { acts: [...ended.acts, ...sessions], sessions: sessions.length, ended, effect: 'sessions' };
}

/** The person or session that a signal means, among those of its own connection. */
export interface Subject {
  readonly userId?: string;
  /** The provider's name of a person. They may have a session without being a user. */
  readonly subject?: string;
  /** A live session that the provider names. */
  readonly idpSession?: string;
}

interface ReceivedSignal {
  readonly connection: SignallingConnection;
  readonly source: SourceRow;
  readonly signal: Signal;
}

/**
 * Finds the subject of a signal: never a user of another connection, and never everybody.
 * @returns undefined where there is nothing to find
 */
async function resolveSubject(
  db: Executor,
  tenant: Tenant,
  { connection, source, signal }: ReceivedSignal,
): Promise<Subject | undefined> {
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

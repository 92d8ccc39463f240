import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { recordActs, recordEntry } from '../../record/audit/index.ts';
import {
  disablePerson,
  enablePerson,
  endForPerson,
  lockPeople,
  type OffboardDeps,
  type Offboarded,
} from '../scim/index.ts';
import { endNamedSessions } from '../sso/index.ts';
import { findSignallingConnection, type SignallingConnection } from '../sso/signals.queries.ts';
import { noteSignal, type SourceRow, takeSignal } from './signals.repo.ts';
import { demandOf, type Signal, type SignalEffect } from './signals.rules.ts';
import { onSessionRevokedOf } from './signals.ts';
import { type Meant, meantBy } from './subject.ts';

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
    const meant = connection && (await meantBy(tx, tenant, { connection, source, signal }));
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

interface Asked {
  readonly source: SourceRow;
  readonly connection: SignallingConnection;
  readonly signal: Signal;
  readonly meant: Meant;
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
  { source, connection, signal, meant }: Asked,
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

import { setImmediate } from 'node:timers/promises';
import { auditLineParts } from '@behest/protocol/audit-line';
import type { Act, ActSubject, Announcement, Attempts } from '../../../platform/acts.ts';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';
import { newRecords, type Records } from '../../../platform/db/records.ts';
import { newId, newSalt } from '../../../platform/ids.ts';
import type { Tally } from '../../../platform/telemetry/meter.ts';
import { envelopeOf, patternsOf, talliesOf } from '../events/index.ts';
import {
  countBlocked,
  insertHead,
  type PreparedAct,
  writeActs,
  writeEvents,
  writeStreamEvent,
} from './audit.repo.ts';

/** Begins a developer's chain, in the transaction that creates the developer. */
export function openChain(tx: Tx, tenant: Tenant): Promise<void> {
  return insertHead(tx, tenant);
}

/**
 * The only writer of audit entries and events. Takes the transaction that does the acts: there is no act
 * without its entry and its event, nor the reverse. Comes last in it and once, because it locks the
 * tenant's audit chain, and who holds that must wait for nothing else.
 */
export async function recordActs(tx: Tx, caller: Caller, acts: readonly Act[], at: Date): Promise<void> {
  const portions: Records[] = [];
  for (let done = 0; done < acts.length; done += PORTION) {
    portions.push(await prepareActsInTurns(caller, acts.slice(done, done + PORTION), at));
  }
  for (const portion of portions) await writeActs(tx, caller.tenant, at, portion);
}

/** Acts of one statement. With many more, Postgres would be silent for so long that it is taken to be away. */
const PORTION = 1000;

/**
 * Writes an event that is no entry, and takes it to nobody: whoever announces it says who is told beside the streams.
 * Comes last, as `recordActs` does.
 */
export async function announce(tx: Tx, caller: Caller, announcement: Announcement, at: Date) {
  const event = eventOf(caller, announcement, at);
  await writeStreamEvent(tx, caller.tenant, at, withoutTallies(caller, [event]));
  return event;
}

/** Writes events that are no entries, for all who subscribed to them. Comes last, as `recordActs` does. */
export async function announceToAll(
  tx: Tx,
  caller: Caller,
  announcements: readonly Announcement[],
  at: Date,
): Promise<void> {
  const events = announcements.map((announcement) => eventOf(caller, announcement, at));
  await writeEvents(tx, caller.tenant, at, withoutTallies(caller, events));
}

const withoutTallies = ({ tenant }: Caller, events: readonly ReturnType<typeof eventOf>[]) =>
  newRecords(JSON.stringify(events), { tallies: [], eventsOf: tenant.developerId });

function eventOf({ tenant, mode }: Caller, announcement: Announcement, at: Date) {
  const eventId = newId('evt', at);
  const { type } = announcement;
  const envelope = envelopeOf(announcement, { id: eventId, ...tenant, at, isSandbox: mode === 'sandbox' });
  return { eventId, type, envelope, patterns: patternsOf(type) };
}

/** What `recordActs` does before it writes, for the hot functions that write for themselves. */
export function prepareActs(caller: Caller, acts: readonly Act[], at: Date): Records {
  return withTallies(caller, acts, JSON.stringify(acts.map((act) => prepareAct(caller, act, at))));
}

const AT_ONCE = 100; // acts, a few milliseconds of work that nobody else in the process has to wait for

/** As `prepareActs`, of however many acts: others have their turn in between. */
export async function prepareActsInTurns(caller: Caller, acts: readonly Act[], at: Date): Promise<Records> {
  const texts: string[] = [];
  for (let done = 0; done < acts.length; done += AT_ONCE) {
    if (done > 0) await setImmediate();
    texts.push(...acts.slice(done, done + AT_ONCE).map((act) => JSON.stringify(prepareAct(caller, act, at))));
  }
  return withTallies(caller, acts, `[${texts.join(',')}]`);
}

function prepareAct({ tenant, actor, requestId, mode }: Caller, act: Act, at: Date): PreparedAct {
  const { type, data, evidence, ...ids } = act;
  const metadata = { ...data, ...evidence, actor };
  const told = { action: type, status: 'success', metadata, salt: newSalt() } as const;
  const line = auditLineParts({ ...ids, ...told, ...tenant, id: newId('alog', at) });
  const eventId = newId('evt', at);
  const envelope = envelopeOf(act, { id: eventId, ...tenant, at, isSandbox: mode === 'sandbox' });
  return { ...line, requestId, type, eventId, envelope, patterns: patternsOf(type) };
}

const withTallies = ({ tenant }: Caller, acts: readonly Act[], json: string) =>
  newRecords(json, {
    tallies: acts.flatMap((act) => [ofService, ...talliesOf(act)]),
    eventsOf: tenant.developerId,
  });

/** An attempt that was refused, and that whoever watches the account has to know of. It is no event. */
export interface BlockedAttempt {
  readonly action: keyof Attempts;
  readonly about: ActSubject;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Writes an entry for the first attempt of each minute, and with it how many the minute before had: being
 * refused a thousand times is not a way to fill somebody's log.
 */
export async function recordBlockedAttempt(
  db: Tx,
  caller: Caller,
  attempt: BlockedAttempt,
  at: Date,
): Promise<void> {
  const { tenant, actor, requestId } = caller;
  const { action, about, data } = attempt;
  const { isFirst, previousMinute } = await countBlocked(db, tenant, action, at);
  if (!isFirst) return;
  const metadata = { ...data, previousMinute, actor };
  const facts = { ...about, action, status: 'blocked', metadata, salt: newSalt() } as const;
  const line = auditLineParts({ ...facts, ...tenant, id: newId('alog', at) });
  const record: PreparedAct = { ...line, requestId }; // no event: nothing was done
  await writeActs(db, tenant, at, newRecords(JSON.stringify([record]), { tallies: [ofService] }));
}

const ofService: Tally = { counter: 'auditEntries', label: 'service' };

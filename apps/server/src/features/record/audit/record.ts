import { setImmediate } from 'node:timers/promises';
import { auditLineParts } from '@behest/protocol/audit-line';
import type { Act, ActSubject, Announcement, Attempts, Entries } from '../../../platform/acts.ts';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';
import { type ChainPosition, newRecords, type Records } from '../../../platform/db/hot-writes.ts';
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
 * The only writer of audit entries and events. The caller passes the transaction that does the acts, so an
 * act, its entry and its event commit together. Call it once and last: it locks the tenant's audit chain, and
 * the transaction that holds this lock must wait for no other.
 * @returns the positions of the first and the last entry; undefined without acts
 */
export async function recordActs(
  tx: Tx,
  caller: Caller,
  acts: readonly Act[],
  at: Date,
): Promise<Chained | undefined> {
  const portions: Records[] = [];
  for (let done = 0; done < acts.length; done += PORTION) {
    portions.push(await prepareActsInTurns(caller, acts.slice(done, done + PORTION), at));
  }
  let [first, last]: ChainPosition[] = [];
  for (const portion of portions) {
    const positions = await writeActs(tx, caller.tenant, at, portion);
    first ??= positions[0];
    last = positions.at(-1) ?? last;
  }
  return first && last && { first, last };
}

/** Where the entries of a transaction stand in the chain: one behind the other. */
export interface Chained {
  readonly first: ChainPosition;
  readonly last: ChainPosition;
}

/** Acts in one statement. With many more, Postgres would answer so late that it would seem to be away. */
const PORTION = 1000;

/**
 * Writes an event without an entry, for the streams alone. The caller makes any deliveries to endpoints.
 * Call it last, as `recordActs`.
 */
export async function announce(tx: Tx, caller: Caller, announcement: Announcement, at: Date) {
  const event = eventOf(caller, announcement, at);
  await writeStreamEvent(tx, caller.tenant, at, withoutTallies(caller, [event]));
  return event;
}

/** Writes events without entries, for streams and subscribed endpoints. Call it last, as `recordActs`. */
export async function announceToAll(
  tx: Tx,
  caller: Caller,
  announcements: readonly Announcement[],
  at: Date,
): Promise<void> {
  const events = announcements.map((announcement) => eventOf(caller, announcement, at));
  await writeEvents(tx, caller.tenant, at, withoutTallies(caller, events));
}

/** Prepares an event as `announceToAll` does, for a statement that writes it itself. */
export const prepareAnnouncement = (caller: Caller, announcement: Announcement, at: Date): Records =>
  withoutTallies(caller, [eventOf(caller, announcement, at)]);

const withoutTallies = ({ tenant }: Caller, events: readonly ReturnType<typeof eventOf>[]) =>
  newRecords(JSON.stringify(events), { tallies: [], eventsOf: tenant.developerId });

function eventOf({ tenant, mode }: Caller, announcement: Announcement, at: Date) {
  const eventId = newId('evt', at);
  const { type, agentId } = announcement;
  const envelope = envelopeOf(announcement, { id: eventId, ...tenant, at, isSandbox: mode === 'sandbox' });
  return { eventId, type, ...(agentId && { agentId }), envelope, patterns: patternsOf(type) };
}

/** Prepares acts as `recordActs` does, for the hot SQL functions that write them themselves. */
export function prepareActs(caller: Caller, acts: readonly Act[], at: Date): Records {
  return withTallies(caller, acts, JSON.stringify(acts.map((act) => prepareAct(caller, act, at))));
}

const AT_ONCE = 100; // acts: a few milliseconds, for which other requests of the process wait

/** As `prepareActs`, for any number of acts: other requests get their turn in between. */
export async function prepareActsInTurns(caller: Caller, acts: readonly Act[], at: Date): Promise<Records> {
  const texts: string[] = [];
  for (let done = 0; done < acts.length; done += AT_ONCE) {
    if (done > 0) await setImmediate();
    texts.push(...acts.slice(done, done + AT_ONCE).map((act) => JSON.stringify(prepareAct(caller, act, at))));
  }
  return withTallies(caller, acts, `[${texts.join(',')}]`);
}

function prepareAct(
  { tenant, actor, member, agreed, requestId, mode }: Caller,
  act: Act,
  at: Date,
): PreparedAct {
  const { type, data, evidence, ...ids } = act;
  const metadata = {
    ...data,
    ...evidence,
    actor,
    ...(member && { sessionId: member.sessionId }),
    ...(agreed && { changeId: agreed.changeId }),
  };
  const told = { action: type, status: 'success', metadata, salt: newSalt() } as const;
  const line = auditLineParts({ ...ids, ...told, ...tenant, id: newId('alog', at) });
  const eventId = newId('evt', at);
  const envelope = envelopeOf(act, { id: eventId, ...tenant, at, isSandbox: mode === 'sandbox' });
  const named = ids.agentId && { agentId: ids.agentId };
  return { ...line, requestId, type, eventId, ...named, envelope, patterns: patternsOf(type) };
}

const withTallies = ({ tenant }: Caller, acts: readonly Act[], json: string) =>
  newRecords(json, {
    tallies: acts.map((act) => [ofService, ...talliesOf(act)]),
    eventsOf: tenant.developerId,
  });

/** The service's answer to a question about one call of an agent. */
export interface Ruling {
  readonly action: 'tool.enforce';
  readonly status: 'success' | 'blocked';
  /** Empty when the question named no subject that the service knows. */
  readonly about: ActSubject;
  readonly data: Readonly<Record<string, unknown>>;
  /** Tells subscribers of it. */
  readonly announcement?: Announcement;
  /** Why the call was denied, for the counts: `<code>` or `<code>/<sub-reason>`. */
  readonly denial?: string;
}

/** Prepares the entry of a ruling, and its event, for the group of hot writes. Each ruling has its entry. */
export function prepareRuling(caller: Caller, ruling: Ruling, at: Date): Records {
  const { tenant, actor, requestId } = caller;
  const { action, status, about, data, announcement, denial } = ruling;
  const facts = { ...about, action, status, metadata: { ...data, actor }, salt: newSalt() };
  const line = auditLineParts({ ...facts, ...tenant, id: newId('alog', at) });
  const event = announcement && eventOf(caller, announcement, at);
  const record: PreparedAct = { ...line, requestId, ...event };
  return newRecords(JSON.stringify([record]), {
    tallies: [
      [
        ofService,
        ...(event ? [{ counter: 'acts', label: event.type } as const] : []),
        ...(denial ? [{ counter: 'denials', label: denial } as const] : []),
      ],
    ],
    ...(event ? { eventsOf: tenant.developerId } : { entriesOf: tenant.developerId }),
  });
}

/** A refused attempt that the developer should see in the audit log. There is no event about it. */
export interface BlockedAttempt {
  readonly action: keyof Attempts;
  readonly about: ActSubject;
  readonly data: Readonly<Record<string, unknown>>;
  /** `failure` when the service could not do what it should. */
  readonly status?: 'blocked' | 'failure';
  /** Writes an entry for each. Its caller may append entries anyway, and detection counts them by agent. */
  readonly hasOwnEntry?: true;
}

/**
 * Writes an entry for the first attempt of each minute, with the number of attempts in the minute before, so
 * that an attacker cannot fill a developer's log with refusals.
 */
export async function recordBlockedAttempt(
  db: Tx,
  caller: Caller,
  attempt: BlockedAttempt,
  at: Date,
): Promise<void> {
  const { action, about, data, status = 'blocked', hasOwnEntry } = attempt;
  const { isFirst, previousMinute } = await countBlocked(db, caller.tenant, action, at);
  if (!isFirst && !hasOwnEntry) return;
  const metadata = hasOwnEntry ? data : { ...data, previousMinute };
  await writeActs(db, caller.tenant, at, recordOf(caller, { about, action, status, metadata }, at));
}

/** An entry without an event, about work of the service itself. */
type Entry = {
  [Action in keyof Entries]: {
    readonly action: Action;
    readonly data: Entries[Action];
    readonly about?: ActSubject;
  };
}[keyof Entries];

/** Writes an entry and no event. Call it last, as `recordActs`. */
export async function recordEntry(db: Tx, caller: Caller, entry: Entry, at: Date): Promise<void> {
  await writeActs(db, caller.tenant, at, prepareEntry(caller, entry, at));
}

/** Prepares an entry as `recordEntry` does, for the hot SQL function that writes it. */
export const prepareEntry = (caller: Caller, { action, data, about = {} }: Entry, at: Date): Records =>
  recordOf(caller, { about, action, status: 'success', metadata: { ...data } }, at);

interface EntryFacts {
  readonly about: ActSubject;
  readonly action: string;
  readonly status: 'success' | 'failure' | 'blocked';
  readonly metadata: Readonly<Record<string, unknown>>;
}

function recordOf({ tenant, actor, requestId }: Caller, { about, metadata, ...facts }: EntryFacts, at: Date) {
  const told = { ...about, ...facts, metadata: { ...metadata, actor }, salt: newSalt() };
  const line = auditLineParts({ ...told, ...tenant, id: newId('alog', at) });
  const record: PreparedAct = { ...line, requestId };
  return newRecords(JSON.stringify([record]), { tallies: [[ofService]], entriesOf: tenant.developerId });
}

const ofService: Tally = { counter: 'auditEntries', label: 'service' };

import { sql } from 'kysely';
import type { Clock } from '../clock.ts';
import type { Executor } from '../db/db.ts';
import { type BackOff, nextAttemptAt, type SendResult } from './attempts.ts';

/** A row of a queue. */
export interface QueuedMessage {
  readonly developerId: string;
  readonly id: string;
  readonly attempts: number;
  readonly nextAttemptAt: Date;
}

/** Messages in a table with the columns of `QueuedMessage`. A row goes when it is delivered or given up. */
export interface OutboundQueue<Message extends QueuedMessage> {
  readonly table: string;
  /** A column that is true in rows which are sent in another way. */
  readonly skips?: string;
  readonly backOff: BackOff;
  /** Makes one attempt. An error counts as a failed attempt. */
  readonly send: (message: Message) => Promise<SendResult>;
}

interface QueueDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly onFailure: (error: unknown) => void;
}

/** In one look: a few messages of each developer, so that none makes the others wait. */
const AT_ONCE = { each: 4, all: 20 };

/** How long an attempt may take. The message of a process that dies on the way is due again afterwards. */
export const LEASE_MS = 60_000;

/** Makes one attempt at each message that is due. @returns how many were due */
export async function sendDue<Message extends QueuedMessage>(
  deps: QueueDeps,
  queue: OutboundQueue<Message>,
): Promise<number> {
  const due = await listDueMessagesAcrossTenants<Message>(deps.db, queue, deps.clock());
  await Promise.all(due.map((message) => attempt(deps, queue, message).catch(deps.onFailure)));
  return due.length;
}

async function attempt<Message extends QueuedMessage>(
  { db, clock, onFailure }: QueueDeps,
  { table, backOff, send }: OutboundQueue<Message>,
  message: Message,
): Promise<void> {
  const attempts = message.attempts + 1;
  if (attempts > backOff.maxAttempts) return deleteMessage(db, table, message);
  if (!(await claimMessage(db, table, message, new Date(clock().getTime() + LEASE_MS)))) return;
  const { result, retryAfter } = await send(message).catch((error: unknown): SendResult => {
    onFailure(error);
    return { result: 'failed' };
  });
  if (result === 'rescheduled') return;
  const next = result === 'failed' ? nextAttemptAt(backOff, attempts, clock(), retryAfter) : undefined;
  return next ? postponeMessage(db, table, message, next) : deleteMessage(db, table, message);
}

export async function listDueMessagesAcrossTenants<Message extends QueuedMessage>(
  db: Executor,
  { table, skips }: Pick<OutboundQueue<Message>, 'table' | 'skips'>,
  at: Date,
): Promise<Message[]> {
  const isForQueue = skips === undefined ? sql`true` : sql`not ${sql.ref(skips)}`;
  const due = sql<Message>`
    select * from (
      select *, row_number() over (partition by developer_id order by next_attempt_at) as turn
      from ${sql.table(table)} where next_attempt_at <= ${at} and ${isForQueue}
    ) due
    where turn <= ${AT_ONCE.each} order by next_attempt_at limit ${AT_ONCE.all}`;
  return (await due.execute(db)).rows;
}

/** Counts an attempt and takes the message for it. @returns false when another process has it */
async function claimMessage(
  db: Executor,
  table: string,
  { developerId, id, nextAttemptAt }: QueuedMessage,
  until: Date,
): Promise<boolean> {
  const claim = sql`
    update ${sql.table(table)} set next_attempt_at = ${until}, attempts = attempts + 1
    where developer_id = ${developerId} and id = ${id} and next_attempt_at = ${nextAttemptAt}`;
  return (await claim.execute(db)).numAffectedRows === 1n;
}

async function postponeMessage(
  db: Executor,
  table: string,
  { developerId, id }: QueuedMessage,
  until: Date,
): Promise<void> {
  await sql`
    update ${sql.table(table)} set next_attempt_at = ${until}
    where developer_id = ${developerId} and id = ${id}`.execute(db);
}

async function deleteMessage(db: Executor, table: string, { developerId, id }: QueuedMessage): Promise<void> {
  await sql`delete from ${sql.table(table)} where developer_id = ${developerId} and id = ${id}`.execute(db);
}

import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { failPending } from './deliveries.repo.ts';
import {
  claimPolled,
  countSetsAcrossTenants,
  dropSets,
  hasWaiting,
  insertSet,
  lockQueue,
  type NewSet,
  type PolledSet,
  type StreamState,
  setSetAttemptsAcrossTenants,
  settlePolled,
} from './queues.repo.ts';
import type { WebhookSeals } from './secrets.ts';
import { deleteEndpoint, insertEndpoint, updateEndpoint } from './webhooks.repo.ts';

/** The queue of a stream of signals, which is an endpoint under the stream's id. */
export interface Queue {
  /** Empty for a stream whose receiver fetches the signals. */
  readonly url: string;
  /** The `Authorization` of each attempt; empty for none. */
  readonly header: string;
  /** The types of the events of which signals are made. */
  readonly types: readonly string[];
  readonly state: StreamState;
}

interface QueueDeps {
  readonly seals: WebhookSeals;
}

/** The caller records an act afterwards, under whose lock the queue takes every later event and no earlier one. */
export async function openQueue(
  tx: Tx,
  { seals, maxAttempts }: QueueDeps & { readonly maxAttempts: number },
  tenant: Tenant,
  streamId: string,
  { url, header, types, state }: Queue,
  at: Date,
): Promise<void> {
  await insertEndpoint(tx, tenant, {
    id: streamId,
    url,
    events: [...types],
    description: '',
    status: 'disabled', // an instance of the release before sends nothing from it
    streamState: state,
    maxAttempts,
    secret: seals.seal(header, { ...tenant, webhookId: streamId }),
    sealKeyId: seals.keyId,
    createdAt: at,
    updatedAt: at,
  });
}

/** Leaves the members that the change does not name. Signals that wait go to a new URL. */
export async function changeQueue(
  tx: Tx,
  { seals }: QueueDeps,
  tenant: Tenant,
  streamId: string,
  { url, header, types, state }: Partial<Queue>,
  at: Date,
): Promise<void> {
  await updateEndpoint(tx, tenant, streamId, {
    ...(url !== undefined && { url }),
    ...(header !== undefined && {
      secret: seals.seal(header, { ...tenant, webhookId: streamId }),
      sealKeyId: seals.keyId,
    }),
    ...(types !== undefined && { events: [...types] }),
    ...(state !== undefined && { streamState: state, failures: 0, failingSince: null }),
    updatedAt: at,
  });
}

/** Fails the signals that wait. An attempt under way stores no outcome. */
export async function closeQueue(tx: Tx, tenant: Tenant, streamId: string): Promise<void> {
  await lockQueue(tx, tenant, streamId); // before its signals, as a poll does
  await failPending(tx, tenant, streamId, '');
  await deleteEndpoint(tx, tenant, streamId);
}

/** Drops every signal that waits. */
export async function emptyQueue(tx: Tx, tenant: Tenant, streamId: string, at: Date): Promise<void> {
  const before = new Date(at.getTime() + 1);
  while ((await dropSets(tx, tenant, streamId, { before, most: 0 })) > 0);
}

/** Drops signals that have waited for too long, and the oldest where too many wait. */
export async function thinQueue(
  db: Executor,
  tenant: Tenant,
  streamId: string,
  bounds: { readonly before: Date; readonly most: number },
): Promise<void> {
  while ((await dropSets(db, tenant, streamId, bounds)) > 0);
}

/** A signal about the stream itself, which goes beside those of all subjects. */
export const addSet = (tx: Tx, tenant: Tenant, streamId: string, set: NewSet): Promise<void> =>
  insertSet(tx, tenant, streamId, set);

/** Leases signals to a poll, of each subject the first. */
export const takeSets = (
  db: Executor,
  tenant: Tenant,
  streamId: string,
  wish: { readonly at: Date; readonly most: number },
): Promise<PolledSet[]> => claimPolled(db, tenant, streamId, wish);

/** Whether a poll would find a signal now. */
export const hasSets = (db: Executor, tenant: Tenant, streamId: string, at: Date): Promise<boolean> =>
  hasWaiting(db, tenant, streamId, at);

/** Settles polled signals: taken, or refused with an error. Any other id changes nothing. */
export const settleSets = (
  tx: Tx,
  tenant: Tenant,
  streamId: string,
  ids: readonly string[],
  outcome: { readonly at: Date; readonly lastError: string | null },
): Promise<void> => settlePolled(tx, tenant, streamId, ids, outcome);

const MAX_COUNTED = 10_000;

export const countSets = ({ db }: { readonly db: Executor }): Promise<number> =>
  countSetsAcrossTenants(db, MAX_COUNTED);

/** Brings the queues in line with the settings at the start. */
export const prepareQueues = (db: Executor, maxAttempts: number): Promise<void> =>
  setSetAttemptsAcrossTenants(db, maxAttempts);

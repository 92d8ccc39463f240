import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { envelopeToOcsf } from '../events/index.ts';
import {
  type ClaimedDelivery,
  countPendingAcrossTenants,
  deleteOldAcrossTenants,
  settleDelivery,
} from './webhooks.deliveries.repo.ts';
import { afterAttempt, PROMPT_SECONDS } from './webhooks.rules.ts';
import type { WebhookSeals } from './webhooks.secrets.service.ts';
import { deliveryHeaders } from './webhooks.signing.rules.ts';

export interface SenderDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly egress: Egress;
  readonly seals: WebhookSeals;
  /** The time within which an attempt is prompt. */
  readonly promptSeconds?: number;
}

/**
 * Makes one attempt at a leased delivery and stores the outcome. Calls `onLate` as soon as the attempt is not
 * prompt any longer.
 */
export async function deliver(
  { db, clock, egress, seals, promptSeconds = PROMPT_SECONDS }: SenderDeps,
  delivery: ClaimedDelivery,
  onLate?: () => void,
): Promise<void> {
  const { eventId, eventType, id, envelope, format, url, attempts, maxAttempts } = delivery;
  const body = format === 'ocsf' ? envelopeToOcsf(envelope) : envelope;
  const at = clock();
  const secret = seals.open(delivery.secret, delivery);
  if (secret === undefined)
    throw new Error(`The secret of ${delivery.webhookId} opens under no configured key.`);
  const { previousSecret: previous, previousSecretExpiresAt: until } = delivery;
  const previousSecret = previous && until && until > at ? seals.open(previous, delivery) : undefined;
  const headers = deliveryHeaders({ eventId, eventType, deliveryId: id, body, at, secret, previousSecret });

  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    onLate?.();
  }, promptSeconds * 1000);
  const outcome = await egress.send({ url, method: 'POST', headers, body });
  clearTimeout(timer);

  const endedAt = clock();
  const after = afterAttempt({ attempts: attempts + 1, maxAttempts, isLate }, outcome, endedAt);
  await settleDelivery(db, delivery, endedAt, after);
}

const KEPT_SECONDS = 30 * 86_400;

/**
 * Deletes the deliveries whose retention has ended.
 * @param batch the deliveries in one delete, so that no delete locks many rows or runs long
 */
export async function deleteOldDeliveries(
  { db, clock }: Pick<SenderDeps, 'db' | 'clock'>,
  signal: AbortSignal,
  batch = 500,
): Promise<void> {
  const before = new Date(clock().getTime() - KEPT_SECONDS * 1000);
  while (!signal.aborted && (await deleteOldAcrossTenants(db, before, batch)) === batch);
}

const MOST_COUNTED = 10_000;

export const countPending = ({ db }: { db: Executor }): Promise<number> =>
  countPendingAcrossTenants(db, MOST_COUNTED);

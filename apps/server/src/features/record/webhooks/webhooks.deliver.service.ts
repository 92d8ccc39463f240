import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import {
  type ClaimedDelivery,
  countPendingAcrossTenants,
  deleteOldAcrossTenants,
  settleDelivery,
} from './webhooks.deliveries.repo.ts';
import { afterAttempt } from './webhooks.rules.ts';
import type { WebhookSeals } from './webhooks.secrets.service.ts';
import { deliveryHeaders } from './webhooks.signing.rules.ts';

export interface SenderDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly egress: Egress;
  readonly seals: WebhookSeals;
}

/** Makes one attempt at a leased delivery and stores the outcome. */
export async function deliver({ db, clock, egress, seals }: SenderDeps, delivery: ClaimedDelivery) {
  const { eventId, eventType, id, envelope: body, url, attempts, maxAttempts } = delivery;
  const at = clock();
  const secret = seals.open(delivery.secret, delivery);
  if (secret === undefined)
    throw new Error(`The secret of ${delivery.webhookId} opens under no configured key.`);
  const { previousSecret: previous, previousSecretExpiresAt: until } = delivery;
  const previousSecret = previous && until && until > at ? seals.open(previous, delivery) : undefined;
  const headers = deliveryHeaders({ eventId, eventType, deliveryId: id, body, at, secret, previousSecret });

  const startedAt = performance.now();
  const outcome = await egress.send({ url, method: 'POST', headers, body });
  const seconds = (performance.now() - startedAt) / 1000;

  const endedAt = clock();
  const after = afterAttempt({ attempts: attempts + 1, maxAttempts, seconds }, outcome, endedAt);
  await settleDelivery(db, delivery, endedAt, after);
}

const KEPT_SECONDS = 30 * 86_400;
/** Deliveries in one delete, so that no delete locks many rows or runs long. */
const BATCH = 500;

/** Deletes the deliveries whose retention has ended. */
export async function deleteOldDeliveries(
  { db, clock }: Pick<SenderDeps, 'db' | 'clock'>,
  signal: AbortSignal,
): Promise<void> {
  const before = new Date(clock().getTime() - KEPT_SECONDS * 1000);
  while (!signal.aborted && (await deleteOldAcrossTenants(db, before, BATCH)) === BATCH);
}

const MOST_COUNTED = 10_000;

export const countPending = ({ db }: { db: Executor }): Promise<number> =>
  countPendingAcrossTenants(db, MOST_COUNTED);

import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import { envelopeToOcsf } from '../events/index.ts';
import {
  type ClaimedDelivery,
  countPendingAcrossTenants,
  deleteOldAcrossTenants,
  settleDelivery,
} from './deliveries.repo.ts';
import { disableGone, type MakeSet, type OnEndpointGone } from './endpoints.ts';
import type { WebhookSeals } from './secrets.ts';
import {
  type AfterAttempt,
  afterAttempt,
  afterSet,
  type DeliveryAttempt,
  deliveryHeaders,
  PROMPT_SECONDS,
  setHeaders,
} from './webhooks.rules.ts';

export interface SenderDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly egress: Egress;
  readonly seals: WebhookSeals;
  readonly keyRing: KeyRing;
  /** The `iss` of signals. */
  readonly issuer: string;
  readonly makeSet: MakeSet;
  readonly onStreamGone: OnEndpointGone;
  /** The time within which an attempt is prompt. */
  readonly promptSeconds?: number;
}

/**
 * Makes one attempt at a leased delivery and stores the outcome. Calls `onLate` as soon as the attempt is not
 * prompt any longer.
 */
export async function deliver(
  deps: SenderDeps,
  delivery: ClaimedDelivery,
  onLate?: () => void,
): Promise<void> {
  const { db, clock, seals, promptSeconds = PROMPT_SECONDS } = deps;
  const secret = seals.open(delivery.secret, delivery);
  if (secret === undefined)
    throw new Error(`The secret of ${delivery.webhookId} opens under no configured key.`);
  const beganAt = clock();
  const attempt = delivery.isSet
    ? await setAttempt(deps, delivery, secret)
    : eventAttempt(deps, delivery, secret, beganAt);

  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    onLate?.();
  }, promptSeconds * 1000);
  const began = performance.now();
  const settled = await attempt().finally(() => clearTimeout(timer));
  const durationMs = Math.round(performance.now() - began);

  const { attempts, maxAttempts } = delivery;
  const endedAt = clock();
  const after = settled({ attempts: attempts + 1, maxAttempts, isLate }, endedAt);
  await settleDelivery(db, delivery, endedAt, after, { beganAt, durationMs });
  if (after.isGone) await (delivery.isSet ? deps.onStreamGone : disableGone)(deps, delivery, endedAt);
}

/** Calls the endpoint. @returns a function that decides how the delivery goes on */
type Attempt = () => Promise<(attempt: DeliveryAttempt, at: Date) => AfterAttempt>;

function eventAttempt(
  { egress, seals }: SenderDeps,
  delivery: ClaimedDelivery,
  secret: string,
  at: Date,
): Attempt {
  const { eventId, eventType, id: deliveryId, envelope, format, url } = delivery;
  const body = bodyOf(envelope, format);
  const { previousSecret: previous, previousSecretExpiresAt: until } = delivery;
  const previousSecret = previous && until && until > at ? seals.open(previous, delivery) : undefined;
  const headers = deliveryHeaders({ eventId, eventType, deliveryId, body, at, secret, previousSecret });
  return async () => {
    const outcome = await egress.send({ url, method: 'POST', headers, body });
    return (attempt, endedAt) => afterAttempt(attempt, outcome, endedAt);
  };
}

/** Exactly the text that is sent. */
export const bodyOf = (envelope: string, format: ClaimedDelivery['format']): string =>
  format === 'ocsf' ? envelopeToOcsf(envelope) : envelope;

/** RFC 8935 §2. The secret of a stream is the header that its receiver asked for. */
async function setAttempt(deps: SenderDeps, delivery: ClaimedDelivery, secret: string): Promise<Attempt> {
  const body = await deps.makeSet(deps, delivery);
  const { url } = delivery;
  return async () => {
    const answer = await deps.egress.ask({ url, method: 'POST', headers: setHeaders(secret), body });
    if (answer.status === undefined) return (attempt, endedAt) => afterSet(attempt, answer, endedAt);
    const told = { ...answer, retryAfter: answer.headers['retry-after'] };
    return (attempt, endedAt) => afterSet(attempt, told, endedAt);
  };
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

const MAX_COUNTED = 10_000;

export const countPending = ({ db }: { db: Executor }): Promise<number> =>
  countPendingAcrossTenants(db, MAX_COUNTED);

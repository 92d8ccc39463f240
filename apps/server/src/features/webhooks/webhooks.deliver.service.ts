import type { Clock } from '../../platform/clock.ts';
import type { Executor } from '../../platform/db/db.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import {
  type ClaimedDelivery,
  claimDeliveriesAcrossTenants,
  countPendingAcrossTenants,
  deleteOldAcrossTenants,
  releaseDelivery,
  settleDelivery,
  type Turn,
} from './webhooks.deliveries.repo.ts';
import { afterAttempt } from './webhooks.rules.ts';
import type { WebhookSeals } from './webhooks.secrets.service.ts';
import { deliveryHeaders } from './webhooks.signing.rules.ts';

export interface DispatcherDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly egress: Egress;
  readonly seals: WebhookSeals;
  /** Told of what failed beside the receivers: the delivery is claimed again when its lease is over. */
  readonly onFailure: (error: unknown) => void;
}

/** Sends what is due, many at once. Any number of processes may each have one. */
export interface Dispatcher {
  /** Soon, for something was committed that may have to be delivered. */
  wake(): void;
  /** Begins with what is due now, as far as there is room. What it began goes on. */
  begin(): Promise<void>;
  /** Resolves when nothing is being sent. */
  idle(): Promise<void>;
  /** Begins nothing more, and resolves when what is being sent has ended. */
  stop(): Promise<void>;
}

const MOST_AT_ONCE = 50;
/** Commits that come close together are looked for together. */
const WAKE_DELAY = 20; // milliseconds

export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const sending = new Set<Promise<void>>();
  let turn: Turn = { developerId: '', webhookId: '' };
  let beginning: Promise<void> | undefined;
  let isAskedAgain = false;
  let isStopping = false;
  let timer: NodeJS.Timeout | undefined;

  /** One claim at a time, so that the room is counted right. */
  function begin(): Promise<void> {
    isAskedAgain = true;
    beginning ??= claim().finally(() => {
      beginning = undefined;
    });
    return beginning;
  }

  async function claim(): Promise<void> {
    while (isAskedAgain && !isStopping && sending.size < MOST_AT_ONCE) {
      isAskedAgain = false;
      const room = MOST_AT_ONCE - sending.size;
      const claimed = await claimDeliveriesAcrossTenants(deps.db, deps.clock(), room, turn);
      turn = claimed.at(-1) ?? turn;
      if (isStopping) await Promise.all(claimed.map((delivery) => releaseDelivery(deps.db, delivery)));
      else claimed.forEach(start);
    }
  }

  function start(delivery: ClaimedDelivery): void {
    const sent: Promise<void> = attempt(deps, delivery)
      .catch(deps.onFailure)
      .finally(() => {
        sending.delete(sent);
        beginUnasked(); // in the place that is free now
      });
    sending.add(sent);
  }

  const beginUnasked = () => void begin().catch(deps.onFailure);

  async function idle(): Promise<void> {
    while (beginning || sending.size > 0) await Promise.allSettled([beginning, ...sending]);
  }

  return {
    begin,
    idle,
    wake() {
      if (isStopping) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        beginUnasked();
      }, WAKE_DELAY).unref();
    },
    async stop() {
      isStopping = true;
      clearTimeout(timer);
      await idle();
    },
  };
}

async function attempt({ db, clock, egress, seals }: DispatcherDeps, delivery: ClaimedDelivery) {
  const { eventId, eventType, id, envelope: body, url, attempts, maxAttempts } = delivery;
  const at = clock();
  const secret = seals.open(delivery.secret, delivery);
  if (secret === undefined)
    throw new Error(`The secret of ${delivery.webhookId} opens under no configured key.`);
  const { previousSecret: previous, previousSecretExpiresAt: until } = delivery;
  const previousSecret = previous && until && until > at ? seals.open(previous, delivery) : undefined;
  const headers = deliveryHeaders({ eventId, eventType, deliveryId: id, body, at, secret, previousSecret });

  const outcome = await egress.send({ url, method: 'POST', headers, body });

  const endedAt = clock();
  const after = afterAttempt({ attempts: attempts + 1, maxAttempts }, outcome, endedAt);
  await settleDelivery(db, delivery, endedAt, after);
}

const KEPT_SECONDS = 30 * 86_400;
/** So that no delete holds many rows, or runs long. */
const BATCH = 500;

/** Deletes the history that is past its time. */
export async function deleteOldDeliveries(
  { db, clock }: Pick<DispatcherDeps, 'db' | 'clock'>,
  signal: AbortSignal,
): Promise<void> {
  const before = new Date(clock().getTime() - KEPT_SECONDS * 1000);
  while (!signal.aborted && (await deleteOldAcrossTenants(db, before, BATCH)) === BATCH);
}

const MOST_COUNTED = 10_000;

export const countPending = ({ db }: { db: Executor }): Promise<number> =>
  countPendingAcrossTenants(db, MOST_COUNTED);

import { deliver, type SenderDeps } from './webhooks.deliver.service.ts';
import {
  type ClaimedDelivery,
  claimDeliveriesAcrossTenants,
  type EndpointTurn,
  releaseDelivery,
} from './webhooks.deliveries.repo.ts';

export interface DispatcherDeps extends SenderDeps {
  /** Called when the service itself fails. The delivery is claimed again when its lease has ended. */
  readonly onFailure: (error: unknown) => void;
  /** Runs work in a trace of its own, because the work outlives the request or job that began it. */
  readonly trace?: (name: string, work: () => Promise<void>) => Promise<void>;
}

/** Sends due deliveries, many at once. Each of any number of processes may have a dispatcher. */
export interface Dispatcher {
  /** Looks for due deliveries soon, because a commit may have made some. */
  wake(): void;
  /** Starts the deliveries that are due now, as far as slots are free, and does not wait for their end. */
  begin(): Promise<void>;
  /** Resolves when no delivery is being sent. */
  idle(): Promise<void>;
  /** Starts no more deliveries, and resolves when those under way have ended. */
  stop(): Promise<void>;
}

/** Commits within this time share one look for due deliveries. */
const WAKE_DELAY = 50; // milliseconds

/** There are two lanes, so that a prompt endpoint never waits for a slot that a slow endpoint holds. */
export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { trace = untraced } = deps;
  const lanes = [true, false].map((isPrompt) => openLane(deps, isPrompt, beginUnasked));
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  async function begin() {
    await Promise.all(lanes.map((lane) => lane.begin()));
  }

  /**
   * Runs in both lanes also when a slot becomes free, because an attempt may move its endpoint to the other
   * lane.
   */
  function beginUnasked() {
    trace('webhook claim', begin).catch(deps.onFailure);
  }

  async function idle() {
    while (lanes.some((lane) => lane.isBusy())) await Promise.all(lanes.map((lane) => lane.idle()));
  }

  return {
    begin,
    idle,
    wake() {
      if (isStopped) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        beginUnasked();
      }, WAKE_DELAY).unref();
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await Promise.all(lanes.map((lane) => lane.stop()));
      await idle();
    },
  };
}

const untraced: NonNullable<DispatcherDeps['trace']> = (_name, work) => work();

const MOST_AT_ONCE = 50; // in a lane

function openLane(deps: DispatcherDeps, isPrompt: boolean, onSlotFree: () => void) {
  const { trace = untraced } = deps;
  const sending = new Set<Promise<void>>();
  let turn: EndpointTurn = { developerId: '', webhookId: '' };
  let beginning: Promise<void> | undefined;
  let isAskedAgain = false;
  let isStopping = false;

  /** Runs one claim at a time, so that the count of free slots is right. */
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
      const slots = { isPrompt, free: MOST_AT_ONCE - sending.size };
      const claimed = await claimDeliveriesAcrossTenants(deps.db, deps.clock(), slots, turn);
      turn = claimed.at(-1) ?? turn;
      if (isStopping) await Promise.all(claimed.map((delivery) => releaseDelivery(deps.db, delivery)));
      else claimed.forEach(start);
    }
  }

  function start(delivery: ClaimedDelivery): void {
    const sent: Promise<void> = trace('webhook delivery', () => deliver(deps, delivery))
      .catch(deps.onFailure)
      .finally(() => {
        sending.delete(sent);
        onSlotFree();
      });
    sending.add(sent);
  }

  return {
    begin,
    isBusy: () => beginning !== undefined || sending.size > 0,
    idle: () => Promise.allSettled([beginning, ...sending]),
    stop() {
      isStopping = true;
    },
  };
}

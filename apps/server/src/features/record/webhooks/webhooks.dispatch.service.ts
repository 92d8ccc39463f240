import { deliver, type SenderDeps } from './webhooks.deliver.service.ts';
import {
  type ClaimedDelivery,
  claimDeliveriesAcrossTenants,
  type EndpointTurn,
  releaseDelivery,
} from './webhooks.deliveries.repo.ts';

export interface DispatcherDeps extends SenderDeps {
  /** Told of what failed beside the receivers: the delivery is claimed again when its lease is over. */
  readonly onFailure: (error: unknown) => void;
  /** Makes a trace of its own of what goes on after the request or job that set it off. */
  readonly trace?: (name: string, work: () => Promise<void>) => Promise<void>;
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

/** Commits that come close together are looked for together. */
const WAKE_DELAY = 50; // milliseconds

/** Two lanes: endpoints that answer at once never wait for a slot that one holds which does not. */
export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { trace = untraced } = deps;
  const lanes = [true, false].map((isPrompt) => openLane(deps, isPrompt, beginUnasked));
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  async function begin() {
    await Promise.all(lanes.map((lane) => lane.begin()));
  }

  /** Also where a slot has become free: what an attempt shows of an endpoint may put it into the other lane. */
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

  /** One claim at a time, so that the slots are counted right. */
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

import { type Counts, type LaneDeps, openLane, untraced } from './lane.ts';

/** Sends due deliveries, many at once. Each of any number of processes may have a dispatcher. */
export interface Dispatcher {
  /** Looks for due deliveries soon, because a commit may have made some. */
  wake(): void;
  /** Starts the deliveries that are due now, as far as places are free, and does not wait for their end. */
  begin(): Promise<void>;
  /** Resolves when no delivery is being sent. */
  idle(): Promise<void>;
  /** Starts no more deliveries, and resolves when those under way have ended. */
  stop(): Promise<void>;
}

/** Commits within this time share one look for due deliveries. */
const WAKE_DELAY = 50; // milliseconds

/** There are two lanes, so that a prompt endpoint never waits for a place that a slow endpoint holds. */
export function createDispatcher(deps: LaneDeps): Dispatcher {
  const { trace = untraced } = deps;
  const late: Counts = new Map();
  const lanes = [true, false].map((isPrompt) =>
    openLane(deps, { isPrompt, late, onPlaceFree: beginUnasked }),
  );
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  async function begin() {
    await Promise.all(lanes.map((lane) => lane.begin()));
  }

  /**
   * Runs in both lanes also when a place becomes free, because an attempt may move its endpoint to the other
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

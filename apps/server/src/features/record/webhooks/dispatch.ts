import { LRUCache } from 'lru-cache';
import { deliver, type SenderDeps } from './deliver.ts';
import {
  type ClaimedDelivery,
  claimSharesAcrossTenants,
  listDueDevelopersAcrossTenants,
  releaseDelivery,
  slowEndpoint,
} from './deliveries.repo.ts';
import { PLACES, type Places, passedOver, shareOut } from './webhooks.rules.ts';

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

export interface LaneDeps extends SenderDeps {
  /** Called when the service itself fails. The delivery is claimed again when its lease has ended. */
  readonly onFailure: (error: unknown) => void;
  /** Runs work in a trace of its own, because the work outlives the request or job that began it. */
  readonly trace?: (name: string, work: () => Promise<void>) => Promise<void>;
}

const MAX_TURNS = 10_000; // developers

const untraced: NonNullable<LaneDeps['trace']> = (_name, work) => work();

/** The number of running attempts of each developer. */
export type Counts = Map<string, number>;

interface LaneOptions {
  readonly isPrompt: boolean;
  /**
   * The attempts of both lanes that took too long for the prompt lane and gave their places back. They count
   * for their developers in both lanes. There are at most 200: fifty places, each given back every two
   * seconds, and attempts that end within ten.
   */
  readonly late: Counts;
  readonly onPlaceFree: () => void;
}

/** Sends the deliveries of one lane, and shares its places out among the developers. */
function openLane(deps: LaneDeps, { isPrompt, late, onPlaceFree }: LaneOptions) {
  const { db, clock, onFailure, trace = untraced } = deps;
  const sending = new Set<Promise<void>>();
  const placed: Counts = new Map();
  /** The endpoint of each developer that had the last turn. The turns of a forgotten developer begin afresh. */
  const endpointTurns = new LRUCache<string, string>({ max: MAX_TURNS });
  let developerTurn = '';
  let beginning: Promise<void> | undefined;
  let isAskedAgain = false;
  let isStopping = false;

  /** Runs one claim at a time, so that the count of free places is right. */
  function begin(): Promise<void> {
    isAskedAgain = true;
    beginning ??= claim().finally(() => {
      beginning = undefined;
    });
    return beginning;
  }

  async function claim(): Promise<void> {
    while (isAskedAgain && !isStopping) {
      isAskedAgain = false;
      const spent = new Set<string>();
      while (!isStopping && (await claimRound(spent)));
    }
  }

  /**
   * @param spent the developers of which nothing more can be sent now
   * @returns whether another round may find more
   */
  async function claimRound(spent: Set<string>): Promise<boolean> {
    const at = clock();
    const { shares, mayBeMore } = await nextShares(at, spent);
    if (shares.length === 0) return false;
    const claimed = await claimSharesAcrossTenants(db, at, isPrompt, shares);
    if (isStopping) {
      await Promise.all(claimed.map((delivery) => releaseDelivery(db, delivery)));
      return false;
    }
    for (const { developerId, places } of shares) {
      const own = claimed.filter((delivery) => delivery.developerId === developerId);
      if (own.length < places) spent.add(developerId);
      endpointTurns.set(developerId, own.at(-1)?.webhookId);
    }
    claimed.forEach(start);
    return mayBeMore || shares.some(({ developerId }) => !spent.has(developerId));
  }

  async function nextShares(at: Date, spent: ReadonlySet<string>) {
    const places = placesNow();
    if (places.free <= 0) return { shares: [], mayBeMore: false };
    const search = { isPrompt, after: developerTurn };
    const passed = passedOver(places);
    const most = places.free + 1;
    const due = await listDueDevelopersAcrossTenants(db, at, {
      ...search,
      most,
      except: [...passed, ...spent],
    });
    const isEmpty = due.length === 0 && passed.length > 0;
    // Two of those that were passed over leave the rest of the places to others; one alone may have it.
    const among = isEmpty
      ? await listDueDevelopersAcrossTenants(db, at, { ...search, most: 2, except: [...spent] })
      : due;
    const isAlone = among.length === 1 && (isEmpty || passed.length === 0);
    const given = shareOut(among, places, { isAlone });
    developerTurn = [...given.keys()].at(-1) ?? developerTurn;
    const shares = [...given].map(([developerId, count]) => ({
      developerId,
      after: endpointTurns.get(developerId) ?? '',
      places: count,
    }));
    return { shares, mayBeMore: passed.length > 0 || due.length === most };
  }

  function placesNow(): Places {
    const taken = [...placed.values()].reduce((sum, count) => sum + count, 0);
    const held: Counts = new Map(placed);
    for (const [developerId, count] of late) held.set(developerId, (held.get(developerId) ?? 0) + count);
    return { free: PLACES - taken, held };
  }

  function start(delivery: ClaimedDelivery): void {
    count(placed, delivery, 1);
    const sent: Promise<void> = trace('webhook delivery', () => send(delivery))
      .catch(onFailure)
      .finally(() => {
        sending.delete(sent);
        onPlaceFree();
      });
    sending.add(sent);
  }

  async function send(delivery: ClaimedDelivery): Promise<void> {
    let counts = placed;
    let moved: Promise<void> | undefined;
    /** Gives the place back while the attempt goes on. */
    const giveBack = () => {
      count(placed, delivery, -1);
      counts = late;
      count(late, delivery, 1);
      moved = slowEndpoint(db, delivery).catch(onFailure).finally(onPlaceFree);
    };
    try {
      await deliver(deps, delivery, isPrompt ? giveBack : undefined);
    } finally {
      await moved;
      count(counts, delivery, -1);
    }
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

function count(counts: Counts, { developerId }: ClaimedDelivery, by: 1 | -1): void {
  const now = (counts.get(developerId) ?? 0) + by;
  if (now > 0) counts.set(developerId, now);
  else counts.delete(developerId);
}

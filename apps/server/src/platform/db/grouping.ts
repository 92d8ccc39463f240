import type { DialectAdapter } from 'kysely';
import pg from 'pg';
import { type Executor, isDatabaseAway, isLostRace } from './db.ts';

interface Grouped<Member, Outcome> {
  /** Members of one owner go together, and the next group of an owner waits for the one that is under way. */
  readonly ownerOf: (member: Member) => string;
  /** How long it waits, in milliseconds: a slow write must not hold up all others of its owner. */
  readonly patience: number;
  /** In characters. */
  readonly sizeOf: (member: Member) => number;
  /** Whether members of several owners may share a group in this database. Asked once, and again after a failure. */
  readonly mayMix: (db: Executor) => Promise<boolean>;
  /**
   * Makes all of them in one transaction. Fails rather than wait long for a lock, because others wait behind it.
   * @returns for each, in their order, an outcome, or the error that undid all members of its owner
   */
  readonly together: (db: Executor, members: readonly Member[]) => Promise<readonly (Outcome | Error)[]>;
  /** Makes one, and waits for its locks as long as it takes. */
  readonly alone: (db: Executor, member: Member) => Promise<Outcome>;
}

interface Waiting<Member, Outcome> {
  readonly db: Executor;
  readonly member: Member;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
  /** In milliseconds of `performance.now()`. */
  readonly since: number;
}

/** Audit entries of 16 KiB each are a megabyte then. */
const MAX_TOGETHER = 64;
const MAX_CHARACTERS = 1_000_000;

/** Groups of a process, so that a pool of ten connections has some left for reads. */
const MAX_UNDER_WAY = 6;
/** Groups that are kept for owners who have none under way: two owners with slow writes must not hold up all others. */
const FOR_OTHERS = 3;

/**
 * Groups of several owners that are under way and not slow. What arrives meanwhile makes the next ones larger, and a
 * second one uses the time in which the first one syncs.
 */
const SIDE_BY_SIDE = 2;

/**
 * How long a write waits for its turn, in milliseconds, as long as a statement may take. A Postgres that answers, but slower than
 * writes come, would otherwise hold each of them longer than the last.
 */
const LONGEST_WAIT = 10_000;
const LOOK_EVERY = 1_000;

/** How long an owner has groups of its own after it could not get a lock in time, in milliseconds. */
const SLOW_FOR = 5_000;
const MAX_SLOW = 1_000;

/**
 * Makes writes in groups. A write begins at once unless a group of its owner is under way, or as many groups as there
 * may be. Then it waits, and goes together with all that wait by then, those of other owners too. Owners take turns, so
 * the busiest one does not hold up the others.
 */
export function grouping<Member, Outcome>(grouped: Grouped<Member, Outcome>) {
  /** By the adapter of a database, which its executors with further plugins share. */
  const lines = new WeakMap<DialectAdapter, ReturnType<typeof newLine<Member, Outcome>>>();

  return (db: Executor, member: Member): Promise<Outcome> => {
    const { adapter } = db.getExecutor();
    const line = lines.get(adapter) ?? newLine(grouped);
    lines.set(adapter, line);
    return new Promise((resolve, reject) => line({ db, member, resolve, reject, since: performance.now() }));
  };
}

function newLine<Member, Outcome>(grouped: Grouped<Member, Outcome>) {
  const queues = new Map<string, Waiting<Member, Outcome>[]>();
  /** How many groups of each owner are under way. */
  const underWay = new Map<string, number>();
  /** Owners whose last group is under way, and not slow. */
  const waitedFor = new Set<string>();
  let places = MAX_UNDER_WAY;
  /** Owners with a queue whose next group may begin, in the order of their turns. */
  const turns = new Set<string>();
  const mixing = newMixing(grouped);
  const slowOwners = newSlowOwners();

  const begin = () => {
    while (places > 0 && (mixing.hasPlace() || slowOwners.areThere())) {
      const eligible = [...turns].filter((owner) => places > FOR_OTHERS || !underWay.has(owner));
      const own = eligible.find((owner) => !mixing.isOn() || (slowOwners.has(owner) && places > FOR_OTHERS));
      if (own !== undefined) {
        beginGroup([own], () => {});
        continue;
      }
      const owners = eligible.filter((owner) => !slowOwners.has(owner));
      if (owners.length === 0 || !mixing.hasPlace()) return;
      beginGroup(owners, mixing.takePlace());
    }
  };

  const beginGroup = (owners: readonly string[], giveBack: () => void) => {
    const group = takeGroup(
      grouped,
      owners.slice(0, MAX_TOGETHER).map((owner) => queues.get(owner) ?? []), // one of each fills a group
    );
    const members = new Set(group.map(({ member }) => grouped.ownerOf(member)));
    places -= 1;
    for (const owner of members) {
      if (queues.get(owner)?.length === 0) queues.delete(owner);
      turns.delete(owner);
      underWay.set(owner, (underWay.get(owner) ?? 0) + 1);
      waitedFor.add(owner);
    }
    const goOn = () => {
      giveBack();
      for (const owner of members) {
        waitedFor.delete(owner);
        if (queues.has(owner)) turns.add(owner);
      }
    };
    let isSlow = false;
    const impatience = setTimeout(() => {
      isSlow = true;
      goOn();
      begin();
    }, grouped.patience);
    settle(grouped, group, slowOwners.add).then(() => {
      clearTimeout(impatience);
      places += 1;
      for (const owner of members) {
        const others = (underWay.get(owner) ?? 1) - 1;
        if (others === 0) underWay.delete(owner);
        else underWay.set(owner, others);
      }
      if (!isSlow) goOn();
      begin();
    });
  };

  let isLooking = false;
  const giveUpLate = () => {
    isLooking = false;
    const latest = performance.now() - LONGEST_WAIT;
    for (const [owner, queue] of queues) {
      const inTime = queue.findIndex(({ since }) => since > latest);
      for (const { reject } of queue.splice(0, inTime < 0 ? queue.length : inTime)) reject(tooLate());
      if (queue.length > 0) continue;
      queues.delete(owner);
      turns.delete(owner);
    }
    if (queues.size > 0) lookAgain();
  };
  const lookAgain = () => {
    if (isLooking) return;
    isLooking = true;
    setTimeout(giveUpLate, LOOK_EVERY).unref();
  };

  return (waiting: Waiting<Member, Outcome>) => {
    lookAgain();
    const owner = grouped.ownerOf(waiting.member);
    const queue = queues.get(owner) ?? [];
    queue.push(waiting);
    queues.set(owner, queue);
    if (waitedFor.has(owner)) return;
    turns.add(owner);
    if (turns.size > 1 || underWay.size > 0) mixing.learn(waiting.db, begin);
    begin();
  };
}

/** The write has not begun, and is answered as when Postgres is away. */
const tooLate = () =>
  Object.assign(new Error('Postgres does not come to this write.'), { code: 'ETIMEDOUT' });

/** Whether groups of several owners are made, and how many more may begin. Off until the database has said so. */
function newMixing<Member, Outcome>({ mayMix }: Grouped<Member, Outcome>) {
  let isOn = false;
  let isAsked = false;
  let places = SIDE_BY_SIDE;
  return {
    isOn: () => isOn,
    learn(db: Executor, then: () => void) {
      if (isAsked) return;
      isAsked = true;
      mayMix(db).then(
        (may) => {
          isOn = may;
          then();
        },
        () => {
          isAsked = false;
        },
      );
    },
    hasPlace: () => places > 0,
    /** @returns what gives it back */
    takePlace() {
      places -= 1;
      return () => {
        places += 1;
      };
    },
  };
}

/** Owners that could not get a lock in time a short while ago. */
function newSlowOwners() {
  const until = new Map<string, number>(); // the next to end is first
  return {
    areThere() {
      for (const [owner, end] of until) {
        if (end > performance.now()) return true;
        until.delete(owner);
      }
      return false;
    },
    add(owner: string) {
      until.delete(owner);
      until.set(owner, performance.now() + SLOW_FOR);
      const [oldest] = until.keys();
      if (oldest !== undefined && until.size > MAX_SLOW) until.delete(oldest);
    },
    has(owner: string) {
      const end = until.get(owner);
      if (end === undefined) return false;
      if (end > performance.now()) return true;
      until.delete(owner);
      return false;
    },
  };
}

/**
 * Takes as many as may go together, and at least one: the first of each queue, then the second of each, and so on, so
 * that a long queue does not fill the group while others wait.
 */
function takeGroup<Member, Outcome>(
  { sizeOf }: Grouped<Member, Outcome>,
  queues: readonly Waiting<Member, Outcome>[][],
): Waiting<Member, Outcome>[] {
  const group: Waiting<Member, Outcome>[] = [];
  let characters = 0;
  for (let left = queues; left.length > 0; left = left.filter(({ length }) => length > 0)) {
    for (const queue of left) {
      const [first] = queue;
      if (!first) continue;
      characters += sizeOf(first.member);
      if (group.length > 0 && (group.length === MAX_TOGETHER || characters > MAX_CHARACTERS)) return group;
      group.push(first);
      queue.shift();
    }
  }
  return group;
}

/** Never throws itself. Returns when the next group of the owners may begin. */
async function settle<Member, Outcome>(
  { together, alone, ownerOf }: Grouped<Member, Outcome>,
  group: readonly Waiting<Member, Outcome>[],
  onSlow: (owner: string) => void,
): Promise<void> {
  const [first] = group;
  if (!first) return;
  const fail = ({ db, member, resolve, reject }: Waiting<Member, Outcome>, error: unknown) => {
    if (isImpatience(error)) onSlow(ownerOf(member));
    const hasHope = isUndone(error) && (group.length > 1 || isLostRace(error) || isImpatience(error));
    if (hasHope) alone(db, member).then(resolve, reject);
    else reject(error);
  };
  try {
    const outcomes = await together(
      first.db,
      group.map(({ member }) => member),
    );
    for (const [place, waiting] of group.entries()) {
      const outcome = outcomes[place];
      if (outcome === undefined) waiting.reject(new Error('A write of a group has no outcome.'));
      else if (outcome instanceof Error) fail(waiting, outcome);
      else waiting.resolve(outcome);
    }
  } catch (error) {
    for (const waiting of group) fail(waiting, error);
  }
}

/**
 * Whether Postgres itself said that it did none of the group: the trouble of one member must not cost the others their
 * writes. After any other failure, such as a connection that was lost in the commit, all may have been written, and a
 * second attempt could refuse what the first one did.
 */
export const isUndone = (error: unknown) => error instanceof pg.DatabaseError && !isDatabaseAway(error);

/** Whether a lock was not to be had in time. */
const isImpatience = (error: unknown) => error instanceof pg.DatabaseError && error.code === '55P03';

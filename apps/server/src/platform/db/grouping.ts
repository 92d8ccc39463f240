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
  /**
   * Makes all of them in one transaction. Fails rather than wait long for a lock, because others wait behind it.
   * @returns an outcome for each, in their order
   */
  readonly together: (db: Executor, members: readonly Member[]) => Promise<readonly Outcome[]>;
  /** Makes one, and waits for its locks as long as it takes. */
  readonly alone: (db: Executor, member: Member) => Promise<Outcome>;
}

interface Waiting<Member, Outcome> {
  readonly db: Executor;
  readonly member: Member;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Audit entries of 16 KiB each are a megabyte then. */
const MAX_TOGETHER = 64;
const MAX_CHARACTERS = 1_000_000;

/** Groups of a process, so that a pool of ten connections has some left for reads. */
const MAX_UNDER_WAY = 6;
/** Groups that are kept for owners who have none under way: two owners with slow writes must not hold up all others. */
const FOR_OTHERS = 3;

/**
 * Makes writes in groups. A write begins at once unless a group of its owner is under way. Then it waits, and goes
 * together with all that wait by then. Owners take turns, so the busiest one does not hold up the others.
 */
export function grouping<Member, Outcome>(grouped: Grouped<Member, Outcome>) {
  /** By the adapter of a database, which its executors with further plugins share. */
  const lines = new WeakMap<DialectAdapter, ReturnType<typeof newLine<Member, Outcome>>>();

  return (db: Executor, member: Member): Promise<Outcome> => {
    const { adapter } = db.getExecutor();
    const line = lines.get(adapter) ?? newLine(grouped);
    lines.set(adapter, line);
    return new Promise((resolve, reject) => line({ db, member, resolve, reject }));
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

  const begin = () => {
    for (const owner of turns) {
      if (places === 0) return;
      if (underWay.has(owner) && places <= FOR_OTHERS) continue;
      const queue = queues.get(owner) ?? [];
      const group = takeGroup(grouped, queue);
      if (queue.length === 0) queues.delete(owner);
      turns.delete(owner);
      places -= 1;
      underWay.set(owner, (underWay.get(owner) ?? 0) + 1);
      waitedFor.add(owner);
      const next = () => {
        if (queues.has(owner) && !waitedFor.has(owner)) turns.add(owner);
        begin();
      };
      let isSlow = false;
      const impatience = setTimeout(() => {
        isSlow = true;
        waitedFor.delete(owner);
        next();
      }, grouped.patience);
      settle(grouped, group).then(() => {
        clearTimeout(impatience);
        places += 1;
        const others = (underWay.get(owner) ?? 1) - 1;
        if (others === 0) underWay.delete(owner);
        else underWay.set(owner, others);
        if (!isSlow) waitedFor.delete(owner);
        next();
      });
    }
  };

  return (waiting: Waiting<Member, Outcome>) => {
    const owner = grouped.ownerOf(waiting.member);
    const queue = queues.get(owner) ?? [];
    queue.push(waiting);
    queues.set(owner, queue);
    if (waitedFor.has(owner)) return;
    turns.add(owner);
    begin();
  };
}

/** Takes from a queue's beginning as many as may go together, and at least one. */
function takeGroup<Member, Outcome>(
  { sizeOf }: Grouped<Member, Outcome>,
  queue: Waiting<Member, Outcome>[],
): Waiting<Member, Outcome>[] {
  let characters = 0;
  const end = queue.findIndex(({ member }, place) => {
    characters += sizeOf(member);
    return place > 0 && (place === MAX_TOGETHER || characters > MAX_CHARACTERS);
  });
  return queue.splice(0, end === -1 ? queue.length : end);
}

/** Never throws itself. Returns when the next group of the owner may begin. */
async function settle<Member, Outcome>(
  { together, alone }: Grouped<Member, Outcome>,
  group: readonly Waiting<Member, Outcome>[],
): Promise<void> {
  const [first] = group;
  if (!first) return;
  try {
    const outcomes = await together(
      first.db,
      group.map(({ member }) => member),
    );
    for (const [place, { resolve, reject }] of group.entries()) {
      const outcome = outcomes[place];
      if (outcome === undefined) reject(new Error('A write of a group has no outcome.'));
      else resolve(outcome);
    }
  } catch (error) {
    const hasHope = isUndone(error) && (group.length > 1 || isLostRace(error) || isImpatience(error));
    for (const { db, member, resolve, reject } of group) {
      if (hasHope) alone(db, member).then(resolve, reject);
      else reject(error);
    }
  }
}

/**
 * Whether Postgres itself said that it did none of the group: the trouble of one member must not cost the others their
 * writes. After any other failure, such as a connection that was lost in the commit, all may have been written, and a
 * second attempt could refuse what the first one did.
 */
const isUndone = (error: unknown) => error instanceof pg.DatabaseError && !isDatabaseAway(error);

/** Whether a lock was not to be had in time. */
const isImpatience = (error: unknown) => error instanceof pg.DatabaseError && error.code === '55P03';

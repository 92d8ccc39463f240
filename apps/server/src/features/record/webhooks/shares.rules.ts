/** The attempts that a process makes at a time in one lane. */
export const PLACES = 50;
/** The most that a developer holds of a lane while something of another developer is due. */
export const QUARTER = Math.floor(PLACES / 4);
/** The last places of a lane go to developers that hold none, so that a newcomer finds one at once. */
export const KEPT = PLACES / 5;

/** The state of a lane in one process. */
export interface Places {
  readonly free: number;
  /** The attempts of each developer that count against its share. */
  readonly held: ReadonlyMap<string, number>;
}

/** The developers that may not take a place now while something of another developer is due. */
export const passedOver = ({ free, held }: Places): string[] =>
  [...held].filter(([, places]) => !mayTake(places, free, false)).map(([developerId]) => developerId);

/**
 * Shares free places out, one at a time: each goes to the developer that holds the fewest, the first in the
 * order of turns among equals. `isAlone` says that nothing of any other developer is due.
 */
export function shareOut(
  due: readonly string[],
  { free, held }: Places,
  { isAlone }: { readonly isAlone: boolean },
): ReadonlyMap<string, number> {
  const shares = new Map<string, number>();
  const holds = (developerId: string) => (held.get(developerId) ?? 0) + (shares.get(developerId) ?? 0);
  for (let left = free; left > 0; left -= 1) {
    const able = due.filter((developerId) => mayTake(holds(developerId), left, isAlone));
    const fewest = Math.min(...able.map(holds));
    const next = able.find((developerId) => holds(developerId) === fewest);
    if (next === undefined) break;
    shares.set(next, (shares.get(next) ?? 0) + 1);
  }
  return shares;
}

function mayTake(held: number, free: number, isAlone: boolean): boolean {
  if (held === 0) return free > 0;
  return free > KEPT && (isAlone || held < QUARTER);
}

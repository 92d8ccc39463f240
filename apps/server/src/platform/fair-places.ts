/** A few places that many want. Owners that wait take turns, so one that wants many gets no more than the others. */
export interface FairPlaces {
  /** @returns whether the owner got a place in time */
  take(owner: string): Promise<boolean>;
  /** Gives a place to the next owner. */
  give(): void;
}

type Answer = (isTaken: boolean) => void;

/** @param waitMilliseconds the longest wait for a place */
export function fairPlaces(most: number, waitMilliseconds: number): FairPlaces {
  let free = most;
  /** By owner, in the order of their turns. */
  const waiting = new Map<string, Set<Answer>>();

  const leave = (owner: string, answer: Answer) => {
    const own = waiting.get(owner);
    own?.delete(answer);
    if (own?.size === 0) waiting.delete(owner);
  };

  const wait = (owner: string): Promise<boolean> =>
    new Promise((resolve) => {
      const answer: Answer = (isTaken) => {
        clearTimeout(timer);
        leave(owner, answer);
        resolve(isTaken);
      };
      const timer = setTimeout(() => answer(false), waitMilliseconds);
      const own = waiting.get(owner) ?? new Set();
      waiting.set(owner, own.add(answer));
    });

  return {
    async take(owner) {
      if (free === 0) return wait(owner);
      free -= 1;
      return true;
    },
    give() {
      for (const [owner, own] of waiting) {
        const [answer] = own;
        if (!answer) continue;
        answer(true);
        // The owner's others wait until every other owner has had a turn.
        if (waiting.delete(owner)) waiting.set(owner, own);
        return;
      }
      free += 1;
    },
  };
}

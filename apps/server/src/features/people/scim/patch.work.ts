import { setImmediate } from 'node:timers/promises';
import { scimRefusal } from '../../../platform/errors.ts';

/** The work of one request of changes, which is bounded as a whole and goes by turns. A step is one look at one value. */
export interface PatchWork {
  /** Call it before the steps. Other requests have their turn meanwhile. @throws invalidValue when no steps are left */
  readonly spend: (steps: number) => Promise<void>;
  /** The values of an attribute as texts, as long as changes only add to them. */
  readonly textsOf: WeakMap<readonly unknown[], Set<string>>;
}

// A hundred removals by id from a group of ten thousand are half of it.
const MAX_STEPS = 2_000_000;

/** The steps of a turn: about a millisecond. */
export const STEPS_OF_TURN = 5_000;

export function patchWork(): PatchWork {
  let left = MAX_STEPS;
  let sinceTurn = 0;
  return {
    textsOf: new WeakMap(),
    async spend(steps) {
      left -= steps;
      if (left < 0) {
        const how = 'Send fewer operations at once, or name values by `value eq`';
        throw scimRefusal('invalidValue', `The changes look at more than ${MAX_STEPS} values. ${how}.`);
      }
      sinceTurn += steps;
      if (sinceTurn < STEPS_OF_TURN) return;
      sinceTurn = 0;
      await setImmediate();
    },
  };
}

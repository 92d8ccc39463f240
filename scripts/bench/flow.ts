import type { Floor } from './floors.ts';
import type { Operation } from './load.ts';

/** One use of the service, measured with many at once. */
export interface Flow {
  readonly name: string;
  /** The name of one operation. */
  readonly unit: string;
  /** The route that shows what the same work costs without the service. */
  readonly floor: Floor;
  /** The least share of the floor's rate that satisfies. */
  readonly aim: number;
  /** The native flow that does the same, which is measured in the same run. */
  readonly beside?: string;
  /** Runs before each round, unmeasured. */
  readonly prepare?: () => Promise<void>;
  readonly operation: (connection: number) => Operation;
}

import type { World } from './world.ts';

/** A method that is not made from the table. The compiler checks its arguments here. */
export interface OwnCase {
  /** The operation whose description the answer has to fit. */
  readonly answers?: string;
  good(world: World): Promise<unknown>;
  /** A call that the service, or the method itself, refuses with an error of the SDK. */
  refused(world: World): Promise<unknown>;
}

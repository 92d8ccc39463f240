import type { CommandSpec } from '../spec.ts';

/** The commands of one word, which are loaded when that word is used. */
export interface Group {
  readonly name: string;
  readonly summary: string;
  /** True for those that a newcomer needs: the others share a line of the help. */
  readonly isMain?: true;
  /** True where commands are made from the operations of the service. */
  readonly hasOperations?: true;
  readonly load?: () => Promise<readonly CommandSpec[]>;
}

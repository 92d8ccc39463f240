import type { LeafRange } from '@behest/protocol/merkle';
import type { Tenant } from '../../../platform/caller.ts';
import { definePart } from '../../../platform/parts.ts';

/** A signed state of the log of one developer. */
export interface SignedTree {
  /** The generation of the log, which goes up when the operator restarts it. */
  readonly gen: number;
  /** 32 lower-case hex digits. */
  readonly logId: string;
  /** The name of the log, with which each note begins: `auth.example.com/log/<logId>`. */
  readonly origin: string;
  /** The address below which everybody reads the note and the tiles. */
  readonly url: string;
  /** The key of the notes as C2SP writes it; null without an Ed25519 key. */
  readonly vkey: string | null;
  readonly size: number;
  readonly root: Buffer;
  /** A signed note (C2SP `tlog-checkpoint`) of this size; null without an Ed25519 key. */
  readonly note: string | null;
  /** Null without a note. */
  readonly signedAt: Date | null;
  /** Why nothing is signed any more, in one word; null while the log is good, as `treeOf` answers it. */
  readonly halted: string | null;
}

/** The logs of this process. Features below take it from the context: `context.take(transparencyLog)`. */
export interface TransparencyLog {
  /**
   * The newest tree of a developer. It has every entry that was answered before the call.
   * @throws SERVICE_UNAVAILABLE with `details.dependency` `log` when the log is halted
   */
  treeOf(tenant: Tenant): Promise<SignedTree>;
  /**
   * The roots of ranges of leaves, which are read in one statement and computed in one turn of long work.
   * @throws SERVICE_UNAVAILABLE with `details.dependency` `log` when a tile is missing
   */
  rootsOf(
    tenant: Tenant,
    ranges: readonly LeafRange[],
    tree: Pick<SignedTree, 'gen'>,
  ): Promise<readonly Uint8Array[]>;
}

export const transparencyLog = definePart<TransparencyLog>('the transparency log');

import { type AuditFacts, auditLine } from './audit-line.ts';

/** An audit entry as the API answers it. The check ignores members that are not named here. */
export interface AuditEntry extends AuditFacts {
  /** The same as `id`, under the name that older clients know. */
  readonly entryId?: string;
  /** The number of the entry in its chain. The first entry has 1. */
  readonly seq: number;
  /** RFC 3339 in UTC with milliseconds, such as `2026-02-01T12:00:00.000Z`. */
  readonly timestamp: string;
  /** The hash of the entry before; null for the first entry. */
  readonly prevHash: string | null;
  /** SHA-256 of the entry's line, 64 digits of lower-case hex. */
  readonly hash: string;
  /** The personal content was erased, with the salt, so nobody can compute the hash again. */
  readonly erased?: true;
}

/**
 * The fault of the first broken entry: a `seq` is missing (`gap`), the entry follows another hash
 * (`link_mismatch`), its content was changed (`hash_mismatch`), or it is older than the entry before
 * (`time_regression`).
 */
export type ChainProblem = 'gap' | 'link_mismatch' | 'hash_mismatch' | 'time_regression';

/** The result of a check of a chain. */
export interface ChainVerdict {
  readonly valid: boolean;
  /** The number of entries that were checked, the first broken entry included. */
  readonly checkedEntries: number;
  /** The id of the first broken entry; null when the chain is valid. */
  readonly firstBrokenAt: string | null;
  readonly problem: ChainProblem | null;
  /**
   * The erased entries among them. Their place and their links were checked, and not their content: each entry
   * `audit.erased` says how many an erasure made.
   */
  readonly erasedEntries: number;
}

/** The position at which a check begins. */
export interface ChainStart {
  /** The `seq` of the first entry. Default: 1. */
  readonly fromSeq?: number;
  /**
   * The `hash` of the entry before the first entry. Without it the check accepts any link of the first entry,
   * unless that entry has `seq` 1, which follows no other.
   */
  readonly prevHash?: string | null;
}

/** The state of a check between two pages. The next page continues from it. */
export interface ChainProgress extends ChainVerdict {
  readonly nextSeq: number;
  /** The hash that the next entry has to follow; undefined when the caller gave none. */
  readonly prevHash: string | null | undefined;
  readonly timestamp: string;
}

/** The service writes milliseconds and nothing else, so times compare as text. */
const TIMESTAMP = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z$/;

/**
 * Checks exported audit entries with no data but the answers of the API: each entry has the hash of its own
 * content and the hash of the entry before, and no entry is missing. The check stops at the first fault.
 *
 * A chain alone cannot show that its end was cut off, or that all of it was replaced. To see that, compare the
 * chain with a signed checkpoint: `readCheckpoint` and `agreesWithCheckpoint`.
 *
 * @param entries in the order of `seq`
 * @param start where the entries begin; `{}` for a whole chain
 * @param sha256 hashes the UTF-8 of a text to 64 digits of lower-case hex
 * @returns the verdict; the function does not throw for any entry that JSON can hold
 * @see RFC 8785 for the form that is hashed
 *
 * @example
 * ```ts
 * import { createHash } from 'node:crypto';
 * import { verifyChain } from '@behest/protocol/audit-chain';
 *
 * const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
 * const { valid, firstBrokenAt, problem } = verifyChain(entries, {}, sha256);
 * if (!valid) throw new Error(`Entry ${firstBrokenAt} is broken: ${problem}`);
 * ```
 */
export function verifyChain(
  entries: Iterable<AuditEntry>,
  start: ChainStart,
  sha256: (text: string) => string,
): ChainVerdict {
  const progress = continueChain(startChain(start), entries, sha256);
  const { valid, checkedEntries, firstBrokenAt, problem, erasedEntries } = progress;
  return { valid, checkedEntries, firstBrokenAt, problem, erasedEntries };
}

/**
 * Checks entries that were chosen from a chain, such as those about one person: each has the hash of its own content,
 * they are in order, and neighbours are linked. What stood between them it cannot see.
 *
 * @param start where the chain of which they are a part begins
 */
export function verifyExcerpt(
  entries: Iterable<AuditEntry>,
  start: ChainStart,
  sha256: (text: string) => string,
): ChainVerdict {
  let reached = startChain(start);
  for (const entry of entries) {
    if (!reached.valid) break;
    const isApart = entry.seq > reached.nextSeq;
    const before = isApart ? { ...reached, nextSeq: entry.seq, prevHash: undefined } : reached;
    reached = follow(before, entry, problemOf(entry, before, sha256));
  }
  const { valid, checkedEntries, firstBrokenAt, problem, erasedEntries } = reached;
  return { valid, checkedEntries, firstBrokenAt, problem, erasedEntries };
}

/**
 * Begins a check page by page, for chains that do not fit into memory.
 *
 * @example
 * ```ts
 * let progress = startChain();
 * for await (const page of pages) progress = continueChain(progress, page, sha256);
 * if (!progress.valid) throw new Error(`Entry ${progress.firstBrokenAt} is broken: ${progress.problem}`);
 * ```
 */
export function startChain({ fromSeq = 1, prevHash }: ChainStart = {}): ChainProgress {
  return {
    valid: true,
    checkedEntries: 0,
    firstBrokenAt: null,
    problem: null,
    erasedEntries: 0,
    nextSeq: fromSeq,
    prevHash: fromSeq === 1 ? null : prevHash,
    timestamp: '',
  };
}

/**
 * Checks one more page, as `verifyChain` does. A broken chain stays broken, whatever the next pages hold.
 *
 * @returns a new state; the given one does not change
 */
export function continueChain(
  progress: ChainProgress,
  entries: Iterable<AuditEntry>,
  sha256: (text: string) => string,
): ChainProgress {
  let reached = progress;
  for (const entry of entries) {
    if (!reached.valid) break;
    reached = follow(reached, entry, problemOf(entry, reached, sha256));
  }
  return reached;
}

function follow(progress: ChainProgress, entry: AuditEntry, problem: ChainProblem | null): ChainProgress {
  return {
    valid: problem === null,
    checkedEntries: progress.checkedEntries + 1,
    firstBrokenAt: problem && entry.id,
    problem,
    erasedEntries: progress.erasedEntries + (entry.erased === true ? 1 : 0),
    nextSeq: progress.nextSeq + 1,
    prevHash: entry.hash,
    timestamp: entry.timestamp,
  };
}

/** The position is checked before the content: a moved entry may well have its own content still. */
function problemOf(
  entry: AuditEntry,
  before: ChainProgress,
  sha256: (text: string) => string,
): ChainProblem | null {
  if (entry.seq !== before.nextSeq) return 'gap';
  const isLinked =
    before.prevHash === undefined ? entry.prevHash !== null : entry.prevHash === before.prevHash;
  if (!isLinked) return 'link_mismatch';
  if ((entry.entryId ?? entry.id) !== entry.id || !hasContent(entry, sha256)) return 'hash_mismatch';
  return entry.timestamp < before.timestamp ? 'time_regression' : null;
}

function hasContent(entry: AuditEntry, sha256: (text: string) => string): boolean {
  if (typeof entry.timestamp !== 'string' || !TIMESTAMP.test(entry.timestamp)) return false;
  if (entry.erased === true) return entry.salt === null && entry.principalId === null;
  try {
    return sha256(auditLine(entry)) === entry.hash;
  } catch {
    return false; // auditLine throws for a value that the service cannot have hashed
  }
}

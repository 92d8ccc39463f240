import { type AuditFacts, auditLine } from './audit-line.ts';

/** An entry as the API answers it; members that are not named here are not looked at. */
export interface AuditEntry extends AuditFacts {
  /** The same as `id`, under the name that older clients know. */
  readonly entryId?: string;
  readonly seq: number;
  readonly timestamp: string;
  readonly prevHash: string | null;
  readonly hash: string;
}

export type ChainProblem = 'gap' | 'link_mismatch' | 'hash_mismatch' | 'time_regression';

export interface ChainVerdict {
  readonly valid: boolean;
  /** Entries looked at, the first broken one among them. */
  readonly checkedEntries: number;
  /** The id of the first entry that is not as it has to be. */
  readonly firstBrokenAt: string | null;
  readonly problem: ChainProblem | null;
}

export interface ChainStart {
  /** The `seq` of the first entry; 1 when it is left out. */
  readonly fromSeq?: number;
  /**
   * The `hash` of the entry before the first one. It may be left out: an entry with `seq` 1 follows none, and
   * that any other follows the right one is then not checked.
   */
  readonly prevHash?: string | null;
}

/** How far a chain has been verified, to go on from with the next page. */
export interface ChainProgress extends ChainVerdict {
  readonly nextSeq: number;
  /** Undefined when it is not known what the next entry has to follow. */
  readonly prevHash: string | null | undefined;
  readonly timestamp: string;
}

/** The service writes milliseconds and nothing else, so times compare as text. */
const TIMESTAMP = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z$/;

/**
 * Verifies exported audit entries, from nothing but what the API answered: each has the hash of its own
 * content, follows the one before, and nothing is missing between them. A chain cannot show that its end was
 * cut off, nor that all of it was written anew; for that, compare its last hash with a signed checkpoint.
 *
 * @param entries in the order of `seq`
 * @param sha256 hashes the UTF-8 of a text, and answers in lower-case hex
 */
export function verifyChain(
  entries: Iterable<AuditEntry>,
  start: ChainStart,
  sha256: (text: string) => string,
): ChainVerdict {
  const { valid, checkedEntries, firstBrokenAt, problem } = continueChain(startChain(start), entries, sha256);
  return { valid, checkedEntries, firstBrokenAt, problem };
}

/** To verify page by page: each page goes on from the progress that the one before made. */
export function startChain({ fromSeq = 1, prevHash }: ChainStart = {}): ChainProgress {
  return {
    valid: true,
    checkedEntries: 0,
    firstBrokenAt: null,
    problem: null,
    nextSeq: fromSeq,
    prevHash: fromSeq === 1 ? null : prevHash,
    timestamp: '',
  };
}

/** As `verifyChain`, for one more page. What was broken once stays so. */
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
    nextSeq: progress.nextSeq + 1,
    prevHash: entry.hash,
    timestamp: entry.timestamp,
  };
}

/** Place before content: an entry that is in the wrong place may well be as it was written. */
function problemOf(
  entry: AuditEntry,
  before: ChainProgress,
  sha256: (text: string) => string,
): ChainProblem | null {
  if (entry.seq !== before.nextSeq) return 'gap';
  const isLinked =
    before.prevHash === undefined ? entry.prevHash !== null : entry.prevHash === before.prevHash;
  if (!isLinked) return 'link_mismatch';
  if ((entry.entryId ?? entry.id) !== entry.id || !isHashed(entry, sha256)) return 'hash_mismatch';
  return entry.timestamp < before.timestamp ? 'time_regression' : null;
}

function isHashed(entry: AuditEntry, sha256: (text: string) => string): boolean {
  if (typeof entry.timestamp !== 'string' || !TIMESTAMP.test(entry.timestamp)) return false;
  try {
    return sha256(auditLine(entry)) === entry.hash;
  } catch {
    return false; // it holds what cannot be written down, so it cannot be what was hashed
  }
}

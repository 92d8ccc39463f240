import { createHash } from 'node:crypto';
import { continueChain, startChain } from '@behest/protocol/audit-chain';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { inRowPortions } from '../../../platform/db/page-rows.ts';
import { badField } from '../../../platform/errors.ts';
import { hook } from '../../../platform/hooks.ts';
import type { LongWork } from '../../../platform/long-work.ts';
import { listEntriesFrom, type SeqRange } from './audit.queries.ts';
import type { AuditChainVerification, AuditEntry, VerifyQuery } from './audit.schema.ts';
import { findBeyondHead, findBrokenCheckpoint, findHead } from './chain.repo.ts';
import { type CheckpointDeps, type KnownCheckpoint, latestCheckpoint } from './checkpoint.ts';
import { brokenErasure } from './erase.ts';
import { toLink } from './read.ts';

const MAX_ENTRIES = 100_000; // in one call

/** The log in which the operator reads that a chain is broken. */
export interface BrokenChainLog {
  error(facts: object, message: string): void;
}

/** @returns what differs between a part of a chain, which is good by itself, and what else is kept of it */
type CompareChain = (
  db: Executor,
  tenant: Tenant,
  part: SeqRange,
) => Promise<Pick<AuditChainVerification, 'firstBrokenAt' | 'problem'> | undefined>;

/** A part of a chain is good by itself: somebody may have written all of it again. */
export const chainCompared = hook<CompareChain>('chain compared');

export interface VerifyDeps extends CheckDeps {
  readonly comparisons: readonly CompareChain[];
  /** Called when a chain is found broken. */
  readonly onBroken: () => void;
  /** Lets other requests go first. */
  readonly pause: () => Promise<void>;
}

/**
 * Recomputes every hash of a range, and checks that no entry is missing and that the chain agrees with its
 * checkpoints. A broken chain is a finding and not an error: the answer names the first entry that was
 * changed.
 * @throws BAD_REQUEST when the range is empty or too long
 */
export async function verifyOwnChain(
  deps: VerifyDeps,
  { tenant }: Caller,
  { fromSeq, toSeq }: VerifyQuery,
  log: BrokenChainLog,
): Promise<AuditChainVerification> {
  if (toSeq !== undefined && toSeq < fromSeq) throw badField('toSeq', 'too_small');
  if (toSeq !== undefined && toSeq - fromSeq >= MAX_ENTRIES) throw badField('toSeq', 'too_large');
  const head = Number((await findHead(deps.db, tenant)).seq);
  const last = toSeq ?? Math.min(head, fromSeq + MAX_ENTRIES - 1);
  return checkRange(deps, tenant, { fromSeq, toSeq: last }, log);
}

/** Checks a part of a chain, and tells the operator when it is broken. */
export async function checkRange(
  deps: VerifyDeps,
  tenant: Tenant,
  { fromSeq, toSeq }: SeqRange,
  log: BrokenChainLog,
): Promise<AuditChainVerification> {
  const { db, longWork, pause } = deps;
  const check = await beginCheck(deps, tenant, { fromSeq, toSeq });
  while (check.goesOn()) {
    const rows = await listEntriesFrom(db, tenant, check.nextSeq(), toSeq);
    if (rows.length === 0) break;
    for await (const portion of inRowPortions(rows, ({ metadata }) => metadata.length, longWork)) {
      check.take(portion.map(toLink));
    }
    if (check.goesOn()) await pause();
  }
  const found = await check.conclude();
  const verdict = found.valid
    ? { ...found, ...(await differenceOf(deps, tenant, { fromSeq, toSeq })) }
    : found;
  const { valid, firstBrokenAt, problem } = verdict;
  if (!valid) {
    log.error({ ...tenant, firstBrokenAt, problem }, 'an audit chain is broken');
    deps.onBroken();
  }
  return verdict;
}

async function differenceOf({ db, comparisons }: VerifyDeps, tenant: Tenant, part: SeqRange) {
  for (const compare of comparisons) {
    const difference = await compare(db, tenant, part);
    if (difference) return { valid: false, ...difference };
  }
  return undefined;
}

export interface CheckDeps extends CheckpointDeps {
  readonly longWork: LongWork;
}

/** A check of a part of a chain. It is told the entries in portions, by a service that reads them for more than that. */
export interface ChainCheck {
  readonly take: (entries: readonly Omit<AuditEntry, 'source'>[]) => void;
  /** False once an entry was found broken, and after the last entry of the part. */
  readonly goesOn: () => boolean;
  readonly nextSeq: () => number;
  /** How many entries were good before the first broken one. */
  readonly goodEntries: () => number;
  /** The verdict on the entries that were told, and on the promises of the checkpoints about them. */
  readonly conclude: () => Promise<AuditChainVerification>;
}

/**
 * @param toSeq may be after the head of the chain
 * @param isPast whether the newest checkpoint counts only inside the part, because the part ends in the past
 */
export async function beginCheck(
  deps: CheckDeps,
  tenant: Tenant,
  { fromSeq, toSeq }: SeqRange,
  isPast = false,
): Promise<ChainCheck> {
  const { db } = deps;
  const checkpoint = await latestCheckpoint(deps, tenant);
  const { seq, hash } = await findHead(db, tenant);
  const head = { seq: Number(seq), hash: hash?.toString('hex') ?? null };

  const [before] = fromSeq > 1 ? await listEntriesFrom(db, tenant, fromSeq - 1, fromSeq - 1) : [];
  const isHole = !before && fromSeq > 1 && fromSeq <= head.seq; // the entry before the range is missing
  let progress = isHole
    ? startChain({ fromSeq: fromSeq - 1 })
    : startChain({ fromSeq, ...(before && { prevHash: before.hash.toString('hex') }) });

  async function verdict(): Promise<Omit<AuditChainVerification, 'checkpoint' | 'checkpointVerified'>> {
    const { valid, checkedEntries, firstBrokenAt, problem, erasedEntries, nextSeq, prevHash } = progress;
    const found = { checkedEntries, erasedEntries, fromSeq, toSeq, head };
    if (!valid) return { valid, firstBrokenAt, problem, ...found };
    // A chain that lost its last entries is shorter than its head says, or ends with another hash.
    const isWhole = nextSeq - 1 === head.seq;
    const isCut = nextSeq <= Math.min(toSeq, head.seq) || (isWhole && prevHash !== head.hash);
    if (isCut && head.seq > 0) return { valid: false, firstBrokenAt: null, problem: 'truncated', ...found };
    const added = isWhole ? await findBeyondHead(db, tenant) : undefined;
    if (added) return { valid: false, firstBrokenAt: added.id, problem: 'link_mismatch', ...found };
    return { valid, firstBrokenAt, problem, ...found };
  }

  return {
    take(entries) {
      progress = continueChain(progress, entries, sha256);
    },
    goesOn: () => progress.valid && progress.nextSeq <= toSeq,
    nextSeq: () => progress.nextSeq,
    goodEntries: () => progress.checkedEntries - (progress.valid ? 0 : 1),
    async conclude() {
      const found = await verdict();
      const broken = found.valid ? await brokenPart(deps, tenant, checkpoint, found, isPast) : undefined;
      const { jws = null, isProved = null } = checkpoint ?? {};
      return { ...found, ...broken, checkpoint: jws, checkpointVerified: isProved };
    },
  };
}

/** Looks at the erased entries of a good part, and then at the promises about it. */
async function brokenPart(
  deps: CheckDeps,
  tenant: Tenant,
  checkpoint: KnownCheckpoint | undefined,
  found: SeqRange & { readonly erasedEntries: number },
  isPast: boolean,
) {
  const erasure = await brokenErasure(deps, tenant, found);
  if (erasure) return { valid: false, firstBrokenAt: erasure.id, problem: erasure.problem };
  return checkpoint && (await brokenPromise(deps.db, tenant, checkpoint, found, isPast));
}

/**
 * Looks for an entry that a checkpoint names and that the chain has lost: the chain was truncated or
 * rewritten. The newest checkpoint counts even outside the range. Older checkpoints count inside it, because
 * a truncated chain grows and is signed again.
 */
async function brokenPromise(
  db: Executor,
  tenant: Tenant,
  { said }: KnownCheckpoint,
  { fromSeq, toSeq }: SeqRange,
  isPast: boolean,
) {
  const isBeyond = isPast && said !== undefined && said.seq > toSeq;
  // A checkpoint that somebody changed names no entry, and the chain counts as broken.
  const [entry] = said && !isBeyond ? await listEntriesFrom(db, tenant, said.seq, said.seq) : [];
  const isKept = isBeyond || (entry && entry.hash.toString('hex') === said?.hash);
  const broken = isKept ? await findBrokenCheckpoint(db, tenant, fromSeq, toSeq) : { id: entry?.id };
  return broken && { valid: false, firstBrokenAt: broken.id ?? null, problem: 'truncated' };
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

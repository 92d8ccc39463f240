import { createHash } from 'node:crypto';
import { continueChain, startChain } from '@behest/protocol/audit-chain';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { badField } from '../../../platform/errors.ts';
import { findBeyondHead, findBrokenCheckpoint, findHead, listEntryRange } from './audit.chain.repo.ts';
import { type CheckpointDeps, type KnownCheckpoint, latestCheckpoint } from './audit.checkpoint.service.ts';
import type { ChainVerdict, VerifyQuery } from './audit.schema.ts';
import { toLink } from './audit.service.ts';

const MOST_ENTRIES = 100_000; // in one call
const RANGE = 1000; // entries in memory at once, if they are not large

/** The log in which the operator reads that a chain is broken. */
export interface BrokenChainLog {
  error(facts: object, message: string): void;
}

export interface VerifyDeps extends CheckpointDeps {
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
  range: VerifyQuery,
  log: BrokenChainLog,
): Promise<ChainVerdict> {
  const checkpoint = await latestCheckpoint(deps, tenant);
  const found = await verdictOn(deps, tenant, range);
  const broken =
    found.valid && checkpoint ? await brokenPromise(deps.db, tenant, checkpoint, found) : undefined;
  const { jws = null, isProved = null } = checkpoint ?? {};
  const verdict = { ...found, ...broken, checkpoint: jws, checkpointVerified: isProved };
  const { valid, firstBrokenAt, problem } = verdict;
  if (!valid) {
    log.error({ ...tenant, firstBrokenAt, problem }, 'an audit chain is broken');
    deps.onBroken();
  }
  return verdict;
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
  { fromSeq, toSeq }: Pick<ChainVerdict, 'fromSeq' | 'toSeq'>,
) {
  // A checkpoint that somebody changed names no entry, and the chain counts as broken.
  const [entry] = said ? await listEntryRange(db, tenant, said.seq, said.seq, 1) : [];
  const isKept = entry && entry.hash.toString('hex') === said?.hash;
  const broken = isKept ? await findBrokenCheckpoint(db, tenant, fromSeq, toSeq) : { id: entry?.id };
  return broken && { valid: false, firstBrokenAt: broken.id ?? null, problem: 'truncated' };
}

async function verdictOn(
  { db, pause }: Pick<VerifyDeps, 'db' | 'pause'>,
  tenant: Tenant,
  { fromSeq, toSeq }: VerifyQuery,
): Promise<Omit<ChainVerdict, 'checkpoint' | 'checkpointVerified'>> {
  if (toSeq !== undefined && toSeq < fromSeq) throw badField('toSeq', 'too_small');
  if (toSeq !== undefined && toSeq - fromSeq >= MOST_ENTRIES) throw badField('toSeq', 'too_large');
  const { seq, hash } = await findHead(db, tenant);
  const head = { seq: Number(seq), hash: hash?.toString('hex') ?? null };
  const last = toSeq ?? Math.min(head.seq, fromSeq + MOST_ENTRIES - 1);

  const [before] = fromSeq > 1 ? await listEntryRange(db, tenant, fromSeq - 1, fromSeq - 1, 1) : [];
  const isHole = !before && fromSeq > 1 && fromSeq <= head.seq; // the entry before the range is missing
  let progress = isHole
    ? startChain({ fromSeq: fromSeq - 1 })
    : startChain({ fromSeq, ...(before && { prevHash: before.hash.toString('hex') }) });
  while (progress.valid && progress.nextSeq <= last) {
    const rows = await listEntryRange(db, tenant, progress.nextSeq, last, RANGE);
    if (rows.length === 0) break;
    progress = continueChain(progress, rows.map(toLink), sha256);
    if (progress.valid && progress.nextSeq <= last) await pause();
  }

  const { valid, checkedEntries, firstBrokenAt, problem, nextSeq, prevHash } = progress;
  const found = { checkedEntries, fromSeq, toSeq: last, head };
  if (!valid) return { valid, firstBrokenAt, problem, ...found };
  // A chain that lost its last entries is shorter than its head says, or ends with another hash.
  const isWhole = nextSeq - 1 === head.seq;
  const isCut = nextSeq <= Math.min(last, head.seq) || (isWhole && prevHash !== head.hash);
  if (isCut && head.seq > 0) return { valid: false, firstBrokenAt: null, problem: 'truncated', ...found };
  const added = isWhole ? await findBeyondHead(db, tenant) : undefined;
  if (added) return { valid: false, firstBrokenAt: added.id, problem: 'link_mismatch', ...found };
  return { valid, firstBrokenAt, problem, ...found };
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

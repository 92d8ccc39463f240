import { createHash } from 'node:crypto';
import { continueChain, startChain } from '@behest/protocol/audit-chain';
import type { Caller } from '../../platform/caller.ts';
import { badField } from '../../platform/errors.ts';
import { findHead, listStretch } from './audit.repo.ts';
import type { ChainVerdict, VerifyQuery } from './audit.schema.ts';
import { type AuditDeps, toEntry } from './audit.service.ts';

const MOST_ENTRIES = 100_000; // a call
const STRETCH = 1000; // entries in memory at once

/**
 * Recomputes every hash of a range and checks that nothing is missing in it. A broken chain is a finding, and
 * not an error: the answer says which entry is the first that cannot be as it was written.
 * @throws BAD_REQUEST when the range is empty or too long
 */
export async function verifyOwnChain(
  { db }: AuditDeps,
  { tenant }: Caller,
  { fromSeq, toSeq }: VerifyQuery,
): Promise<ChainVerdict> {
  const { seq, hash } = await findHead(db, tenant);
  const head = { seq: Number(seq), hash: hash?.toString('hex') ?? null };
  const last = toSeq ?? Math.min(head.seq, fromSeq + MOST_ENTRIES - 1);
  if (toSeq !== undefined && toSeq < fromSeq) throw badField('toSeq', 'too_small');
  if (toSeq !== undefined && toSeq - fromSeq >= MOST_ENTRIES) throw badField('toSeq', 'too_large');

  const [before] = fromSeq > 1 ? await listStretch(db, tenant, fromSeq - 1, fromSeq - 1, 1) : [];
  let progress = startChain({ fromSeq, ...(before && { prevHash: before.hash.toString('hex') }) });
  while (progress.valid && progress.nextSeq <= last) {
    const rows = await listStretch(db, tenant, progress.nextSeq, last, STRETCH);
    if (rows.length === 0) break;
    progress = continueChain(progress, rows.map(toEntry), sha256);
  }

  const { valid, checkedEntries, firstBrokenAt, problem, nextSeq, prevHash } = progress;
  const found = { checkedEntries, fromSeq, toSeq: last, head };
  if (!valid) return { valid, firstBrokenAt, problem, ...found };
  // The head says where the chain ends: without its last entries it is shorter than that, or ends otherwise.
  const isCut = nextSeq <= Math.min(last, head.seq) || (nextSeq - 1 === head.seq && prevHash !== head.hash);
  if (isCut && head.seq > 0) return { valid: false, firstBrokenAt: null, problem: 'truncated', ...found };
  return { valid, firstBrokenAt, problem, ...found };
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

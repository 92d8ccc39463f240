import type { Caller, Tenant } from '../../../platform/caller.ts';
import { inRowPortions } from '../../../platform/db/row-portions.ts';
import { badField } from '../../../platform/errors.ts';
import type { SeqRange } from './audit.queries.ts';
import type { ChainVerdict, VerifyQuery } from './audit.schema.ts';
import { toLink } from './audit.ts';
import { findHead, listEntryRange } from './chain.repo.ts';
import { beginCheck, type CheckDeps } from './check.ts';

const MOST_ENTRIES = 100_000; // in one call

/** The log in which the operator reads that a chain is broken. */
export interface BrokenChainLog {
  error(facts: object, message: string): void;
}

export interface VerifyDeps extends CheckDeps {
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
): Promise<ChainVerdict> {
  if (toSeq !== undefined && toSeq < fromSeq) throw badField('toSeq', 'too_small');
  if (toSeq !== undefined && toSeq - fromSeq >= MOST_ENTRIES) throw badField('toSeq', 'too_large');
  const head = Number((await findHead(deps.db, tenant)).seq);
  const last = toSeq ?? Math.min(head, fromSeq + MOST_ENTRIES - 1);
  return checkRange(deps, tenant, { fromSeq, toSeq: last }, log);
}

/** Checks a part of a chain, and tells the operator when it is broken. */
export async function checkRange(
  deps: VerifyDeps,
  tenant: Tenant,
  { fromSeq, toSeq }: SeqRange,
  log: BrokenChainLog,
): Promise<ChainVerdict> {
  const { db, longWork, pause } = deps;
  const check = await beginCheck(deps, tenant, { fromSeq, toSeq });
  while (check.goesOn()) {
    const rows = await listEntryRange(db, tenant, check.nextSeq(), toSeq);
    if (rows.length === 0) break;
    for await (const portion of inRowPortions(rows, ({ metadata }) => metadata.length, longWork)) {
      check.take(portion.map(toLink));
    }
    if (check.goesOn()) await pause();
  }
  const verdict = await check.conclude();
  const { valid, firstBrokenAt, problem } = verdict;
  if (!valid) {
    log.error({ ...tenant, firstBrokenAt, problem }, 'an audit chain is broken');
    deps.onBroken();
  }
  return verdict;
}

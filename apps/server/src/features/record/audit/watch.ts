import { setImmediate } from 'node:timers/promises';
import type { Tenant } from '../../../platform/caller.ts';
import {
  findHash,
  findHead,
  keepProgress,
  listUnwatchedAcrossTenants,
  type Progress,
  takeWatch,
} from './chain.repo.ts';
import { type BrokenChainLog, checkRange, type VerifyDeps } from './verify.ts';

export interface WatchDeps extends Omit<VerifyDeps, 'pause'> {
  readonly log: BrokenChainLog;
}

// In seconds.
const LOOKED_EVERY = 240; // less than the pause of the job, so each run looks at each chain that has grown
const ROUND_EVERY = 86_400;

/** Entries of one chain in one run. A long chain takes several runs. */
const MAX_OF_A_CHAIN = 10_000;
const BATCH = 100;

/**
 * Checks what was added to each chain since the last run, and once a day begins each chain again: a changed entry of last
 * year is found too. The cost of a run follows the new entries.
 * @returns the developers at whose chains this instance looked
 */
export async function watchChains(deps: WatchDeps, signal: AbortSignal, batch = BATCH): Promise<string[]> {
  const at = deps.clock();
  const earlier = (seconds: number) => new Date(at.getTime() - seconds * 1000);
  const due = { lookedBefore: earlier(LOOKED_EVERY), roundBefore: earlier(ROUND_EVERY) };
  const looked: string[] = [];
  for (let after: string | undefined = ''; after !== undefined; ) {
    const chains: { developerId: string }[] = await listUnwatchedAcrossTenants(deps.db, due, after, batch);
    for (const { developerId } of chains) {
      if (signal.aborted) return looked;
      const progress = await takeWatch(deps.db, { developerId }, at, due.lookedBefore);
      if (!progress) continue;
      looked.push(developerId);
      await watch(deps, { developerId }, progress, due.roundBefore);
    }
    after = chains.length < batch ? undefined : chains.at(-1)?.developerId;
  }
  return looked;
}

/** A broken chain keeps its progress, so the next run finds it broken again. */
async function watch(deps: WatchDeps, tenant: Tenant, before: Progress, roundBefore: Date): Promise<void> {
  const { db, clock, log, onBroken } = deps;
  const head = Number((await findHead(db, tenant)).seq);
  const isNewRound = Number(before.seq) >= head && before.beganAt < roundBefore;
  const { seq, hash, beganAt } = isNewRound ? { seq: '0', hash: null, beganAt: clock() } : before;

  const known = hash && (await findHash(db, tenant, seq));
  if (hash && !known?.hash.equals(hash)) {
    log.error(
      { ...tenant, firstBrokenAt: known?.id ?? null, problem: 'rewritten' },
      'an audit chain is broken',
    );
    return onBroken();
  }
  const fromSeq = Number(seq) + 1;
  const toSeq = Math.min(head, Number(seq) + MAX_OF_A_CHAIN);
  const { valid } = await checkRange(
    { ...deps, pause: () => setImmediate() },
    tenant,
    { fromSeq, toSeq },
    log,
  );
  const last = valid ? await findHash(db, tenant, String(toSeq)) : undefined;
  if (last) await keepProgress(db, tenant, { seq: String(toSeq), hash: last.hash, beganAt });
}

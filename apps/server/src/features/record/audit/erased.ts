import { agreesWithParts, leafOf } from '@behest/protocol/audit-parts';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { inRowPortions } from '../../../platform/db/row-portions.ts';
import type { LongWork } from '../../../platform/long-work.ts';
import type { SeqRange } from './audit.queries.ts';
import { toLink } from './audit.ts';
import { isToldInChain, isUnfinished, listErasedRange, listErasureEntries } from './erase.repo.ts';
import { digestErasure, sha256 } from './erase.ts';

interface CheckDeps {
  readonly db: Executor;
  readonly longWork: LongWork;
}

interface Broken {
  readonly id: string;
  readonly problem: 'leaf_mismatch' | 'erased_without_record';
}

type ErasedRow = Awaited<ReturnType<typeof listErasedRange>>['rows'][number];

/**
 * Looks at the erased entries of a part of the chain. Their hashes cannot be computed again. The rest of each has to make
 * the leaf that was kept when it was erased, and the entry about the erasure has the digest of all its leaves.
 */
export async function brokenErasure(
  { db, longWork }: CheckDeps,
  tenant: Tenant,
  { fromSeq, toSeq, erasedEntries }: SeqRange & { readonly erasedEntries: number },
): Promise<Broken | undefined> {
  const named = new Map<string | null, boolean>([[null, false]]);
  let from = fromSeq;
  for (let goesOn = erasedEntries > 0; goesOn; ) {
    const { rows, hasMore } = await listErasedRange(db, tenant, { fromSeq: from, toSeq });
    for (const { erasureId } of rows) {
      if (!named.has(erasureId)) named.set(erasureId, await isOfErasure(db, tenant, String(erasureId)));
    }
    for await (const portion of inRowPortions(rows, lengthOfParts, longWork)) {
      for (const row of portion) {
        const problem = problemOf(row, named.get(row.erasureId) === true);
        if (problem) return { id: row.id, problem };
      }
    }
    goesOn = hasMore;
    from = Number(rows.at(-1)?.seq) + 1;
  }
  return brokenRecord(db, tenant, { fromSeq, toSeq });
}

const lengthOfParts = ({ parts }: ErasedRow) => (parts ?? []).reduce((sum, { length }) => sum + length, 0);

/** @param isNamed whether there is an erasure that has erased the entry */
function problemOf(row: ErasedRow, isNamed: boolean): Broken['problem'] | undefined {
  const { leaf } = row;
  const parts = row.parts ?? [];
  if (!isNamed || leaf === null) return 'erased_without_record';
  const entry = toLink(row);
  const isSame = leaf.equals(leafOf(entry.hash, parts, sha256)) && agreesWithParts(entry, parts);
  return isSame ? undefined : 'leaf_mismatch';
}

const isOfErasure = async (db: Executor, tenant: Tenant, erasureId: string) =>
  (await isToldInChain(db, tenant, erasureId)) || (await isUnfinished(db, tenant, erasureId));

/** Looks for an erasure whose records are not those that its entry in the chain tells of. */
async function brokenRecord(db: Executor, tenant: Tenant, range: SeqRange): Promise<Broken | undefined> {
  for (const { id, metadata } of await listErasureEntries(db, tenant, range)) {
    const { erasureId, count, digest, leaves } = Object(metadata);
    const kept = await digestErasure(db, tenant, String(erasureId));
    if (kept.count !== count || kept.digest !== digest || kept.leaves !== leaves) {
      return { id, problem: 'leaf_mismatch' };
    }
  }
  return undefined;
}

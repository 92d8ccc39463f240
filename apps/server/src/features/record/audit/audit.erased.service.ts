import { agreesWithParts, leafOf } from '@behest/protocol/audit-parts';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { isUnfinished } from '../erasures/erasures.queries.ts';
import { isToldInChain, listErasedRange, listErasureEntries } from './audit.erase.repo.ts';
import { digestErasure, sha256 } from './audit.erase.service.ts';
import type { SeqRange } from './audit.queries.ts';
import { toLink } from './audit.service.ts';

interface Broken {
  readonly id: string;
  readonly problem: 'leaf_mismatch' | 'erased_without_record';
}

const PAGE = 500;

/**
 * Looks at the erased entries of a part of the chain. Their hashes cannot be computed again. The rest of each has to make
 * the leaf that was kept when it was erased, and the entry about the erasure has the digest of all its leaves.
 */
export async function brokenErasure(
  db: Executor,
  tenant: Tenant,
  { fromSeq, toSeq, erasedEntries }: SeqRange & { readonly erasedEntries: number },
): Promise<Broken | undefined> {
  const named = new Map<string, boolean>();
  const isNamed = async (erasureId: string) => {
    const known = named.get(erasureId) ?? (await isOfErasure(db, tenant, erasureId));
    named.set(erasureId, known);
    return known;
  };

  for (let from = fromSeq, left = erasedEntries; left > 0; ) {
    const rows = await listErasedRange(db, tenant, { fromSeq: from, toSeq }, PAGE);
    for (const { erasureId, leaf, ...row } of rows) {
      const isRecorded = erasureId !== null && leaf !== null && (await isNamed(erasureId));
      if (!isRecorded) return { id: row.id, problem: 'erased_without_record' };
      const entry = toLink(row);
      const isSame = leaf.equals(leafOf(entry.hash, row.parts ?? [], sha256));
      if (!isSame || !agreesWithParts(entry, row.parts ?? []))
        return { id: row.id, problem: 'leaf_mismatch' };
    }
    left = rows.length < PAGE ? 0 : left - rows.length;
    from = Number(rows.at(-1)?.seq) + 1;
  }
  return brokenRecord(db, tenant, { fromSeq, toSeq });
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

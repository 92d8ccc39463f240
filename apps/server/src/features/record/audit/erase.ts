import { createHash, hash as digestOf } from 'node:crypto';
import { auditLine } from '@behest/protocol/audit-line';
import { agreesWithParts, erasedParts, leafOf, partsOf } from '@behest/protocol/audit-parts';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { inRowPortions } from '../../../platform/db/page-rows.ts';
import type { LongWork } from '../../../platform/long-work.ts';
import type { Catalogue } from '../events/index.ts';
import type { EntryRow, SeqRange } from './audit.queries.ts';
import {
  type Erasing,
  eraseRows,
  isToldInChain,
  isUnfinished,
  listErasable,
  listErasedOf,
  listErasedRange,
  listErasureEntries,
} from './erase.repo.ts';
import { toEntry, toLink } from './read.ts';

/** Members of the service's entries that are always about a person; `details` of a denial have the limits of their grant. */
const PERSONAL = new Set([
  'ip',
  'userAgent',
  'email',
  'name',
  'userName',
  'externalId',
  'userId',
  'principalId',
  'principalIds',
  'details',
]);
const OF_A_PERSON = /^(principal|member)(:|$)/;

/**
 * Whether a member of an entry's metadata stays when its personal content is erased. Hosts of agents write what they
 * like, so nothing of theirs stays.
 * @param principalId the person whose content is erased; null when content is erased for its age
 */
function staysErased(
  source: 'service' | 'developer',
  principalId: string | null,
): (member: string, value: unknown) => boolean {
  return (member, value) => {
    if (source === 'developer' || PERSONAL.has(member)) return false;
    if (member === 'actor' && OF_A_PERSON.test(String(value))) return false;
    return principalId === null || !holds(value, principalId);
  };
}

function holds(value: unknown, text: string): boolean {
  if (typeof value === 'string') return value.includes(text);
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((member) => holds(member, text));
}

/** Entries in one transaction. */
const MOST = 500;

/** The parts of an entry are hashed one by one, which costs several times as much as to read it. */
const lengthToErase = ({ metadata }: EntryRow) => 6 * metadata.length;

interface EraseDeps {
  readonly catalogue: Catalogue;
  readonly longWork: LongWork;
}

export interface ErasureOfEntries {
  readonly erasureId: string;
  /** Null erases every entry of the part. */
  readonly principalId: string | null;
  readonly part: SeqRange;
}

export interface Erased {
  readonly entries: number;
  /** Entries that are not what was hashed. They stay as they are: an erasure would hide the change. */
  readonly broken: readonly string[];
  /** The number at which the erasure goes on. */
  readonly nextSeq: number;
}

/** Erases personal content from entries of a part of the chain, at most 500. The chain stays whole. */
export async function eraseEntries(
  tx: Tx,
  tenant: Tenant,
  deps: EraseDeps,
  { erasureId, principalId, part }: ErasureOfEntries,
): Promise<Erased> {
  const { rows, hasMore } = await listErasable(tx, tenant, part, principalId, MOST);
  const broken: string[] = [];
  let entries = 0;
  for await (const portion of inRowPortions(rows, lengthToErase, deps.longWork)) {
    const whole: Erasing[] = [];
    for (const row of portion) {
      const erasing = erasingOf(row, deps, principalId);
      if (erasing) whole.push(erasing);
      else broken.push(row.id);
    }
    if (whole.length > 0) await eraseRows(tx, tenant, erasureId, whole);
    entries += whole.length;
  }
  const last = rows.at(-1);
  return { entries, broken, nextSeq: hasMore && last ? Number(last.seq) + 1 : part.toSeq + 1 };
}

/** @returns undefined for an entry that is not what was hashed */
function erasingOf(
  row: EntryRow,
  deps: Pick<EraseDeps, 'catalogue'>,
  principalId: string | null,
): Erasing | undefined {
  const entry = toEntry(deps, row);
  if (digestOf('sha256', auditLine(entry)) !== entry.hash) return undefined;
  const whole = partsOf(entry, sha256);
  const { parts, metadata } = erasedParts(whole, staysErased(entry.source, principalId), sha256);
  return {
    seq: row.seq,
    parts,
    metadata,
    leaf: Buffer.from(leafOf(entry.hash, whole, sha256)).toString('hex'),
  };
}

/** The statement about an erasure that its entry in the chain makes. */
export interface ErasureDigest {
  readonly count: number;
  /** SHA-256 of the JSON array of the numbers of the entries. */
  readonly digest: string;
  /** SHA-256 of their leaves, one after the other. */
  readonly leaves: string;
}

const PAGE = 5000;

export async function digestErasure(db: Executor, tenant: Tenant, erasureId: string): Promise<ErasureDigest> {
  const [seqs, leaves] = [createHash('sha256').update('['), createHash('sha256')];
  let count = 0;
  for (let after: string | undefined = '0'; after !== undefined; ) {
    const rows: Awaited<ReturnType<typeof listErasedOf>> = await listErasedOf(
      db,
      tenant,
      erasureId,
      after,
      PAGE,
    );
    for (const { seq, leaf } of rows) {
      seqs.update(count === 0 ? seq : `,${seq}`);
      leaves.update(leaf);
      count += 1;
    }
    after = rows.length < PAGE ? undefined : rows.at(-1)?.seq;
  }
  return { count, digest: seqs.update(']').digest('hex'), leaves: leaves.digest('hex') };
}

const sha256 = (bytes: Uint8Array): Uint8Array => digestOf('sha256', bytes, 'buffer');

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

import { createHash, hash as digestOf } from 'node:crypto';
import { auditLine } from '@behest/protocol/audit-line';
import { erasedParts, leafOf, partsOf } from '@behest/protocol/audit-parts';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { inRowPortions } from '../../../platform/db/row-portions.ts';
import type { LongWork } from '../../../platform/long-work.ts';
import type { Catalogue } from '../events/index.ts';
import type { EntryRow, SeqRange } from './audit.queries.ts';
import { toEntry } from './audit.ts';
import { type Erasing, eraseRows, listErasable, listErasedOf } from './erase.repo.ts';

/** Members of the service's entries that are always about a person. */
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

export const sha256 = (bytes: Uint8Array): Uint8Array => digestOf('sha256', bytes, 'buffer');

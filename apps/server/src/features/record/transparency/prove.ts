import { partsOf } from '@behest/protocol/audit-parts';
import {
  areEqual,
  consistencyRanges,
  HASH_BYTES,
  inclusionRanges,
  type LeafRange,
  verifyConsistency,
  verifyInclusion,
} from '@behest/protocol/merkle';
import {
  MissingTile,
  middlesFor,
  readTilePath,
  rootOf,
  type TilePosition,
  type Tiles,
  tilesByKey,
  tilesFor,
  tileWidth,
} from '@behest/protocol/merkle-tiles';
import { encodeBase64, vkeyOf, writeTlogProof } from '@behest/protocol/signed-note';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { findEntryOf, type SeqRange } from '../audit/audit.queries.ts';
import { toLink } from '../audit/index.ts';
import type { SignedTree, TransparencyLog } from './index.ts';
import { type Integrator, type LogDeps, leafOfRow } from './integrate.ts';
import { findLog, findLogByIdAcrossTenants, findTiles, type LogRow } from './transparency.repo.ts';
import { logKeyOf, sha256 } from './transparency.rules.ts';
import type {
  ConsistencyQuery,
  InclusionQuery,
  LogConsistency,
  LogInclusion,
  TransparencyState,
} from './transparency.schema.ts';
import { listWitnesses } from './witness.repo.ts';

export interface ProofDeps extends Omit<LogDeps, 'logger'> {
  readonly integrator: Integrator;
}

/** Seconds within which an entry that was answered is in the log. */
const MERGE_DELAY = 60;
/** Milliseconds for which a request waits for a log that is behind. */
const PATIENCE = 10_000;
/** Roots, of which a few milliseconds are enough: those of one proof. */
const AT_ONCE = 100;

/** What others need of the logs, in this process. */
export const createTransparencyLog = (deps: ProofDeps): TransparencyLog => ({
  treeOf: (tenant) => treeOf(deps, tenant),
  rootsOf: (tenant, ranges, { gen }) => readRoots(deps, tenant, gen, ranges),
});

async function treeOf(deps: ProofDeps, tenant: Tenant): Promise<SignedTree> {
  const tree = await lastTreeOf(deps, tenant);
  if (tree.halted) throw unprovable(true);
  return tree;
}

/** As `treeOf`; of a halted log, its last state. */
async function lastTreeOf(deps: ProofDeps, tenant: Tenant): Promise<SignedTree> {
  const until = performance.now() + PATIENCE;
  const { step } = deps.integrator;
  let { head, log } = await step(tenant);
  const wanted = head;
  while (log.size < wanted && !log.halted && performance.now() < until) ({ head, log } = await step(tenant));
  if (log.size < wanted && !log.halted) throw unprovable(false);
  return signedTree(deps, log);
}

function unprovable(isHalted: boolean): AppError {
  const message = isHalted
    ? 'The log of this account contradicts itself, so nothing is proved by it.'
    : 'The log of this account is still being built; try again.';
  return new AppError('SERVICE_UNAVAILABLE', message, { dependency: 'log' });
}

function signedTree({ keyRing, publicBaseUrl }: ProofDeps, log: LogRow): SignedTree {
  const { gen, logId, origin, size, root, halted } = log;
  const key = logKeyOf(keyRing)?.keyOf(origin);
  const { note, signedAt } = log.noteSize === size ? log : { note: null, signedAt: null };
  return {
    ...{ gen, logId, origin, size, root, halted, note, signedAt },
    url: `${publicBaseUrl}/log/${logId}`,
    vkey: key ? vkeyOf(key) : null,
  };
}

/** Reads the roots of ranges of leaves in one statement, those of many in two. @throws SERVICE_UNAVAILABLE when a tile is missing */
async function readRoots(deps: ProofDeps, tenant: Tenant, gen: number, ranges: readonly LeafRange[]) {
  const find = (positions: readonly TilePosition[]) => findTiles(deps.db, tenant, gen, positions);
  const middles = ranges.length > AT_ONCE ? await find(middlesFor(ranges)) : [];
  const below = await find(tilesFor(ranges, tilesByKey(middles)));
  const tiles = tilesByKey([...middles, ...below]);
  if (ranges.length > AT_ONCE) await deps.longWork.nextTurn();
  const roots = new Map<string, Uint8Array>(); // neighbours have ranges in common
  try {
    return ranges.map((range) => {
      const key = `${range.start}-${range.end}`;
      const root = roots.get(key) ?? rootOf(range, tiles, sha256);
      roots.set(key, root);
      return root;
    });
  } catch (error) {
    if (error instanceof MissingTile) throw await haltedOver(deps, tenant);
    throw error;
  }
}

/** Tiles do not make the root: somebody has changed one of them. */
async function haltedOver({ integrator }: ProofDeps, tenant: Tenant): Promise<AppError> {
  const { log } = await integrator.step(tenant);
  if (!log.halted) await integrator.halt(tenant, log, 'tiles');
  return unprovable(true);
}

/**
 * Compares the last entry of a good part of a chain with its leaf. The entry has the hashes of all before it, so a chain that
 * was written again from some entry on differs here.
 */
export async function compareWithLog(db: Executor, tenant: Tenant, { fromSeq, toSeq }: SeqRange) {
  const { head, log } = await findLog(db, tenant);
  if (!log) return undefined;
  if (head < log.size) return { firstBrokenAt: null, problem: 'truncated' };
  const seq = Math.min(toSeq, log.size);
  if (seq < fromSeq) return undefined;
  const ofLeaf = { start: seq - 1, end: seq };
  const [row, tiles] = await Promise.all([
    findEntryOf(db, tenant, { seq }),
    findTiles(db, tenant, log.gen, tilesFor([ofLeaf])),
  ]);
  const leaf = row && leafOfRow(row);
  const kept = rootIn(tilesByKey(tiles), ofLeaf);
  const isSame = leaf !== undefined && kept !== undefined && areEqual(leaf, kept);
  return isSame ? undefined : { firstBrokenAt: row?.id ?? null, problem: 'leaf_mismatch' };
}

function rootIn(tiles: Tiles, range: LeafRange): Uint8Array | undefined {
  try {
    return rootOf(range, tiles, sha256);
  } catch (error) {
    if (error instanceof MissingTile) return undefined;
    throw error;
  }
}

/** The log of an account, with its newest state. @throws SERVICE_UNAVAILABLE */
export async function getTransparency(deps: ProofDeps, { tenant }: Caller): Promise<TransparencyState> {
  const tree = await lastTreeOf(deps, tenant);
  const { logId, origin, url, vkey, size, root, signedAt, note, halted } = tree;
  const confirmed = await listWitnesses(deps.db, tenant.developerId, tree.gen);
  return {
    ...{ logId, origin, url, vkey, treeSize: size, rootHash: encodeBase64(root), note, halted },
    signedAt: signedAt?.toISOString() ?? null,
    mergeDelaySeconds: MERGE_DELAY,
    witnesses: confirmed.map((each) => ({ ...each, cosignedAt: each.cosignedAt?.toISOString() ?? null })),
  };
}

/** @throws NOT_CONFIGURED without a key */
function noteIn({ note }: Pick<SignedTree, 'note'>): string {
  if (note !== null) return note;
  const message = 'Notes need the Ed25519 key, which the operator has not set.';
  throw new AppError('NOT_CONFIGURED', message, { setting: 'ED25519_PRIVATE_KEY' });
}

/**
 * Proves that an entry stands in the log.
 * @throws NOT_FOUND, BAD_REQUEST for a size at which the entry was not there, SERVICE_UNAVAILABLE
 */
export async function getInclusion(
  deps: ProofDeps,
  { tenant }: Caller,
  { entryId, seq, treeSize }: InclusionQuery,
): Promise<LogInclusion> {
  const wanted = entryId === undefined ? { seq: seq ?? 0 } : { entryId };
  if (entryId === undefined && seq === undefined) throw badField('entryId', 'required');
  if (entryId !== undefined && seq !== undefined) throw badField('seq', 'not_allowed');
  const [tree, row] = await Promise.all([treeOf(deps, tenant), findEntryOf(deps.db, tenant, wanted)]);
  if (!row || Number(row.seq) > tree.size) throw notFound();
  const entry = toLink(row);
  const index = entry.seq - 1;
  const size = treeSize ?? tree.size;
  if (size < entry.seq) throw badField('treeSize', 'too_small');
  if (size > tree.size) throw badField('treeSize', 'too_large');
  const [{ root }, read] = await Promise.all([
    beginningOf(deps, tenant, size, tree),
    readRoots(deps, tenant, tree.gen, [{ start: index, end: entry.seq }, ...inclusionRanges(index, size)]),
  ]);
  const [leaf = root, ...proof] = read;
  if (!verifyInclusion({ leaf, index, size, root, proof }, sha256)) {
    throw await haltedOver(deps, tenant);
  }
  if (!areEqual(leaf, leafOfRow(row))) {
    const message = 'The entry is not the one that the log has: see GET /v1/audit/verify.';
    throw new AppError('SERVICE_UNAVAILABLE', message, { dependency: 'log' });
  }
  return {
    entryId: entry.entryId,
    seq: entry.seq,
    leafIndex: index,
    treeSize: size,
    rootHash: encodeBase64(root),
    leafHash: encodeBase64(leaf),
    hash: entry.hash,
    parts: [...(row.parts ?? partsOf(entry, sha256))],
    proof: proof.map(encodeBase64),
    note: size === tree.size ? tree.note : null,
  };
}

/** The same as C2SP writes it. @throws NOT_CONFIGURED without a key */
export const proofTextOf = (inclusion: LogInclusion): string =>
  writeTlogProof({
    index: inclusion.leafIndex,
    proof: inclusion.proof.map((hash) => Buffer.from(hash, 'base64')),
    note: noteIn(inclusion),
  });

/** Proves that the log only grew between two sizes. @throws BAD_REQUEST for sizes that it never had, SERVICE_UNAVAILABLE */
export async function getConsistency(
  deps: ProofDeps,
  { tenant }: Caller,
  query: ConsistencyQuery,
): Promise<LogConsistency> {
  const tree = await treeOf(deps, tenant);
  const { from, to = tree.size } = query;
  if (to > tree.size) throw badField('to', 'too_large');
  if (from > to) throw badField('from', 'too_large');
  const { root: toRoot } = await beginningOf(deps, tenant, to, tree);
  const { root, proof } = await beginningOf(deps, tenant, from, { gen: tree.gen, size: to, root: toRoot });
  return {
    from,
    to,
    fromRoot: encodeBase64(root),
    toRoot: encodeBase64(toRoot),
    proof: proof.map(encodeBase64),
  };
}

/** An earlier state of a tree, with the proof that the tree begins with it. */
async function beginningOf(
  deps: ProofDeps,
  tenant: Tenant,
  oldSize: number,
  { gen, size, root }: Pick<SignedTree, 'gen' | 'size'> & { readonly root: Uint8Array },
): Promise<{ readonly root: Uint8Array; readonly proof: readonly Uint8Array[] }> {
  if (oldSize === size) return { root, proof: [] };
  const ranges = [{ start: 0, end: oldSize }, ...consistencyRanges(oldSize, size)];
  const [oldRoot = root, ...proof] = await readRoots(deps, tenant, gen, ranges);
  if (verifyConsistency({ oldSize, oldRoot, size, root, proof }, sha256)) return { root: oldRoot, proof };
  throw await haltedOver(deps, tenant);
}

/**
 * The newest note of a log, for everybody who knows its id. It is read as it is kept: whoever writes rows into the database
 * would otherwise have them signed by asking.
 * @throws NOT_FOUND, NOT_CONFIGURED without a key, SERVICE_UNAVAILABLE before the first note
 */
export async function getPublicNote(deps: ProofDeps, logId: string): Promise<string> {
  const log = await findPublicLog(deps, logId);
  if (log.note === null && logKeyOf(deps.keyRing)) throw unprovable(false);
  return noteIn(log);
}

/** The hashes of a tile. @param path after the address of the log @throws NOT_FOUND */
export async function getTile(deps: ProofDeps, logId: string, path: string): Promise<Buffer> {
  const wanted = readTilePath(path);
  if (!wanted) throw notFound();
  const log = await findPublicLog(deps, logId);
  if (tileWidth(wanted, log.size) < wanted.width) throw notFound();
  const [tile] = await findTiles(deps.db, log, log.gen, [wanted]);
  const bytes = wanted.width * HASH_BYTES;
  if (!tile || tile.hashes.length < bytes) throw notFound();
  return Buffer.from(tile.hashes.subarray(0, bytes));
}

async function findPublicLog({ db }: ProofDeps, logId: string) {
  const log = await findLogByIdAcrossTenants(db, logId);
  if (!log) throw notFound();
  return log;
}

import { hash, randomBytes } from 'node:crypto';
import { type ChainProblem, continueChain, startChain } from '@behest/protocol/audit-chain';
import { leafOf, leafOfEntry } from '@behest/protocol/audit-parts';
import { areEqual, emptyRoot } from '@behest/protocol/merkle';
import {
  extendTiles,
  middleTile,
  rootOf,
  type Tile,
  type Tiles,
  tileKey,
  tilesByKey,
  tilesFor,
} from '@behest/protocol/merkle-tiles';
import { LOG_KEY, noteKey, readCheckpointText, readNote, verifyNote } from '@behest/protocol/signed-note';
import type { Act } from '../../../platform/acts.ts';
import { systemCaller, type Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, isDatabaseAway, type Tx } from '../../../platform/db/db.ts';
import { inRowPortions } from '../../../platform/db/page-rows.ts';
import type { LongWork } from '../../../platform/long-work.ts';
import { type KeyRing, readMultikey } from '../../service/keys/index.ts';
import { type EntryRow, listEntriesFrom } from '../audit/audit.queries.ts';
import { recordActs, toLink } from '../audit/index.ts';
import {
  findAccount,
  findLog,
  findTiles,
  growLog,
  haltLog,
  insertLog,
  isClosed,
  keepNote,
  type LogRow,
  listUnevenAcrossTenants,
} from './transparency.repo.ts';
import {
  type Contradiction,
  contradictionIn,
  lastLeaf,
  logKeyOf,
  namesKey,
  originOf,
  rangesToCheck,
  sha256,
  type TreeState,
  verifyEd25519,
} from './transparency.rules.ts';

export interface LogDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
  readonly publicBaseUrl: string;
  readonly longWork: LongWork;
  readonly logger: { fatal(facts: object, message: string): void };
}

/** A log beside its chain. */
export interface Standing {
  /** How many entries the chain has. */
  readonly head: number;
  readonly log: LogRow;
}

export interface Integrator {
  /** One batch of a log, or none if it is as long as its chain. Whoever asks meanwhile gets the same answer. */
  step(tenant: Tenant): Promise<Standing>;
  /** Ends the signing of a log for good. */
  halt(
    tenant: Tenant,
    log: LogRow | Pick<LogRow, 'gen' | 'origin' | 'size'>,
    why: Contradiction,
  ): Promise<void>;
}

/** Entries in one batch. */
const BATCH = 4096;
/** Logs whose last state the process remembers. A forgotten one is compared with its newest note. */
const MOST_KNOWN = 10_000;

/**
 * Builds the logs out of the chains. Nothing is locked: a batch is written in one statement, if the log still has the size
 * from which it was made, so of two processes one has worked in vain. Every state is compared with the last one that this
 * process knows before anything is signed.
 */
export function createIntegrator(deps: LogDeps): Integrator {
  const { db, clock } = deps;
  const underWay = new Map<string, Promise<Standing>>();
  const known = new Map<string, TreeState>();

  function remember({ developerId }: Tenant, { logId, origin, size, root }: TreeState): void {
    known.delete(developerId);
    known.set(developerId, { logId, origin, size, root });
    const [oldest] = known.keys();
    if (oldest !== undefined && known.size > MOST_KNOWN) known.delete(oldest);
  }

  /** The largest tree that this process knows: its own last one, or that of the newest note, which another may have written. */
  async function lastKnown(tenant: Tenant, log: LogRow): Promise<TreeState | undefined> {
    const last = known.get(tenant.developerId);
    const isOther = last !== undefined && last.logId !== log.logId;
    if (isOther && !(await isClosed(db, tenant, last.logId))) return last; // the operator has not replaced it
    const own = isOther ? undefined : last;
    if (own && (log.noteSize ?? 0) <= own.size) return own;
    const noted = stateOfNote(deps, log);
    return noted && noted.size > (own?.size ?? -1) ? noted : own;
  }

  async function halt(tenant: Tenant, log: Pick<LogRow, 'gen' | 'origin' | 'size'>, reason: Contradiction) {
    const { gen, origin, size } = log;
    await inTransaction(db, async (tx) => {
      if (!(await haltLog(tx, tenant, gen, reason))) return;
      await record(tx, tenant, { type: 'transparency.halted', data: { origin, reason, size } }, clock());
    });
    deps.logger.fatal(
      { ...tenant, origin, reason, size },
      'a transparency log contradicts itself, and is halted',
    );
  }

  async function step(tenant: Tenant): Promise<Standing> {
    const { head, log = await openLog(deps, tenant, head) } = await findLog(db, tenant);
    if (log.halted) return { head, log };
    const before = await lastKnown(tenant, log);
    if (head === log.size && before && isSame(before, log))
      return { head, log: await signed(deps, tenant, log) };

    const positions = tilesFor(rangesToCheck(log, before));
    const tiles = tilesByKey(await findTiles(db, tenant, log.gen, positions));
    const contradiction = contradictionIn(log, { head, known: before, tiles });
    const grown =
      contradiction ??
      (await (head === log.size ? signed(deps, tenant, log) : grow(deps, tenant, { head, log }, tiles)));
    if (typeof grown === 'string') {
      await halt(tenant, log, grown);
      return { head, log: { ...log, halted: grown } };
    }
    if (grown) remember(tenant, grown);
    return { head, log: grown ?? log };
  }

  return {
    halt,
    step(tenant) {
      const { developerId } = tenant;
      const running = underWay.get(developerId) ?? step(tenant).finally(() => underWay.delete(developerId));
      underWay.set(developerId, running);
      return running;
    },
  };
}

/** Tells the developer of a log what was found about it. */
export async function record(
  tx: Tx,
  tenant: Tenant,
  act: Extract<Act, { type: 'transparency.halted' | 'transparency.contradicted' }>,
  at: Date,
): Promise<void> {
  const account = await findAccount(tx, tenant);
  if (account) await recordActs(tx, systemCaller(tenant, account, 'transparency'), [act], at);
}

const isSame = (one: TreeState, other: TreeState) =>
  one.origin === other.origin && one.size === other.size && Buffer.compare(one.root, other.root) === 0;

/**
 * A log with a note of its size by the present key, which the operator may have set or changed since. Nothing else signs a
 * tree that is stored: this one was compared with what was signed before.
 */
async function signed({ db, clock, keyRing }: LogDeps, tenant: Tenant, log: LogRow): Promise<LogRow> {
  const key = logKeyOf(keyRing);
  const isSigned = log.note !== null && log.noteSize === log.size;
  if (!key || (isSigned && namesKey(log.note, key.keyOf(log.origin)))) return log;
  const [note, signedAt] = [key.sign(log), clock()];
  await keepNote(db, tenant, { ...log, note, at: signedAt });
  return { ...log, note, noteSize: log.size, signedAt };
}

async function openLog({ db, clock, publicBaseUrl }: LogDeps, tenant: Tenant, head: number): Promise<LogRow> {
  if (head === 0) throw new Error('There is nothing to log.');
  const logId = randomBytes(16).toString('hex');
  const root = Buffer.from(emptyRoot(sha256));
  const made = { gen: 1, logId, origin: originOf(publicBaseUrl, logId), root, createdAt: clock() };
  await inTransaction(db, (tx) => insertLog(tx, tenant, made));
  const { log } = await findLog(db, tenant);
  if (!log) throw new Error('A log was made and is not there.');
  return log;
}

/** What a note of a log says, if a key of the service has signed it. A process that starts knows nothing but the newest. */
export function stateOfNote(
  { keyRing }: Pick<LogDeps, 'keyRing'>,
  { logId, origin, note }: Pick<LogRow, 'logId' | 'origin' | 'note'>,
): TreeState | undefined {
  const read = note === null ? undefined : readNote(note);
  const said = read && readCheckpointText(read.text);
  if (!read || said?.origin !== origin) return undefined;
  const { ed25519, former } = keyRing.identity();
  const own = ed25519 ? [Buffer.from(ed25519.x, 'base64url')] : [];
  const keys = [...own, ...former.map((key) => readMultikey(key)?.publicKey ?? Buffer.alloc(0))].map(
    (publicKey) => noteKey(origin, { type: LOG_KEY, publicKey }, sha256),
  );
  const { ok } = verifyNote(read, keys, verifyEd25519);
  return ok ? { ...said, logId } : undefined;
}

/** @returns the longer log; undefined when another process was first; a word when the chain lacks an entry */
async function grow(
  { db, clock, keyRing, longWork }: LogDeps,
  tenant: Tenant,
  { head, log }: Standing,
  edge: Tiles,
): Promise<LogRow | Contradiction | undefined> {
  const tiles = new Map(edge);
  const changed = new Set<string>();
  const toSeq = Math.min(head, log.size + BATCH);
  const fromSeq = Math.max(1, log.size); // the last entry in the log is read again
  let [chain, size] = [startChain({ fromSeq }), log.size];
  while (size < toSeq) {
    const rows = await listEntriesFrom(db, tenant, chain.nextSeq, toSeq);
    if (rows.length === 0) return 'gap';
    for await (const portion of inRowPortions(rows, ({ metadata }) => metadata.length, longWork)) {
      const [isFirst, entries] = [chain.checkedEntries === 0, portion.map(toLink)];
      chain = continueChain(chain, entries, hexOf);
      if (chain.problem) return FAULTS[chain.problem];
      const leaves = entries.map((entry, at) => leafIn(entry, portion[at]?.parts));
      if (
        isFirst &&
        log.size > 0 &&
        !areEqual(leaves.shift() ?? log.root, rootOf(lastLeaf(log), tiles, sha256))
      ) {
        return 'rewritten';
      }
      for (const tile of extendTiles({ size, edge: tiles, leaves }, sha256)) {
        tiles.set(tileKey(tile), tile);
        changed.add(tileKey(tile));
      }
      size += leaves.length;
    }
  }
  const root = Buffer.from(rootOf({ start: 0, end: size }, tiles, sha256));
  const [note, at] = [logKeyOf(keyRing)?.sign({ origin: log.origin, size, root }) ?? null, clock()];
  const grown = [...changed].map((key) => tiles.get(key)).filter((tile): tile is Tile => tile !== undefined);
  const written = grown.flatMap((tile) => [tile, middleTile(tile, sha256) ?? []].flat());
  const isFirst = await growLog(db, tenant, log, { size, root, tiles: written, note, at });
  const withNote = note === null ? {} : { note, noteSize: size, signedAt: at };
  return isFirst ? { ...log, size, root, ...withNote } : undefined;
}

const hexOf = (text: string) => hash('sha256', text, 'hex');

const FAULTS = {
  gap: 'gap',
  link_mismatch: 'rewritten',
  hash_mismatch: 'changed',
  time_regression: 'changed',
} as const satisfies Record<ChainProblem, Contradiction>;

export const leafOfRow = (row: EntryRow): Uint8Array => leafIn(toLink(row), row.parts);

/** An erased entry has kept its parts, of which some are digests. They make the same leaf. */
const leafIn = (entry: Parameters<typeof leafOfEntry>[0], parts: readonly string[] | null = null) =>
  parts ? leafOf(entry.hash, parts, sha256) : leafOfEntry(entry, sha256);

/** The logs that a process works at by the clock. */
export interface LogWork {
  /** Notes that a developer has new entries. */
  wake(developerId: string): void;
  /** Works at all logs that were woken. */
  workOff(signal: AbortSignal): Promise<void>;
  /** Looks for logs that are not as long as their chains, whoever appended. */
  look(signal: AbortSignal): Promise<void>;
  /** The age of the oldest entry that the last look found outside its log, in seconds. */
  lag(): number;
}

const HEADS = 500; // in one look
const MERGE_DELAY = 60; // seconds

export function createLogWork(
  { step }: Integrator,
  {
    db,
    clock,
    keyRing,
    logger,
  }: Pick<LogDeps, 'db' | 'clock' | 'keyRing'> & {
    readonly logger: { error(facts: object, message: string): void };
  },
): LogWork {
  let woken = new Set<string>();
  let lag = 0;

  /** One batch. The failure of one log stops no other, unless the database is away. */
  async function goesOn(tenant: Tenant): Promise<boolean> {
    try {
      const { head, log } = await step(tenant);
      return !log.halted && log.size < head;
    } catch (error) {
      if (isDatabaseAway(error)) throw error;
      logger.error({ err: error, ...tenant }, 'a transparency log could not be built');
      return false;
    }
  }

  async function workAt(developers: Iterable<string>, signal: AbortSignal): Promise<void> {
    let left = [...developers];
    while (left.length > 0) {
      const behind: string[] = []; // a batch each, so that a long chain holds up no other
      for (const developerId of left) {
        if (signal.aborted) return;
        if (await goesOn({ developerId })) behind.push(developerId);
      }
      left = behind;
    }
  }

  return {
    wake: (developerId) => void woken.add(developerId),
    async workOff(signal) {
      const developers = woken;
      woken = new Set();
      await workAt(developers, signal);
    },
    async look(signal) {
      let oldest = Number.POSITIVE_INFINITY;
      for (let after: string | undefined = ''; after !== undefined && !signal.aborted; ) {
        const { uneven, last, count }: Awaited<ReturnType<typeof listUnevenAcrossTenants>> =
          await listUnevenAcrossTenants(db, {
            after,
            limit: HEADS,
            isSigned: logKeyOf(keyRing) !== undefined,
          });
        for (const { since } of uneven) oldest = Math.min(oldest, since?.getTime() ?? oldest);
        await workAt(
          uneven.map(({ developerId }) => developerId),
          signal,
        );
        after = count < HEADS ? undefined : last;
      }
      lag = Math.max(0, (clock().getTime() - oldest) / 1000);
      if (lag > MERGE_DELAY) logger.error({ lagSeconds: lag }, 'entries wait too long for their log');
    },
    lag: () => lag,
  };
}

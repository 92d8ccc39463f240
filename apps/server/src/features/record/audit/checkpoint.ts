import { type Checkpoint, readCheckpoint, readUnprovedCheckpoint } from '@behest/protocol/audit-checkpoint';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { type KeyRing, signStatement, verifySignature } from '../../service/keys/index.ts';
import type { AuditChainHead } from './audit.schema.ts';
import {
  findCheckpoint,
  findHeadWithCheckpoint,
  insertCheckpoint,
  listUnsignedHeadsAcrossTenants,
} from './chain.repo.ts';

export interface CheckpointDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
}

/** Seconds between two checkpoints of a chain: when requests ask for the head, and when no request does. */
const ON_REQUEST_EVERY = 60;
const UNASKED_EVERY = 3600;

/** The chain's head and its newest checkpoint, which may be a minute behind. */
export async function getHead(deps: CheckpointDeps, { tenant }: Caller): Promise<AuditChainHead> {
  const { seq, hash, at, signedSeq, jws, signedAt } = await findHeadWithCheckpoint(deps.db, tenant);
  const isBehind = hash !== null && Number(signedSeq) < Number(seq);
  const isOld = !signedAt || deps.clock().getTime() - signedAt.getTime() >= ON_REQUEST_EVERY * 1000;
  const checkpoint = isBehind && isOld ? await sign(deps, tenant, seq, hash) : jws;
  return {
    seq: Number(seq),
    hash: hash?.toString('hex') ?? null,
    timestamp: at?.toISOString() ?? null,
    checkpoint,
  };
}

/** Signs checkpoints of chains whose head no request asks for. @param signal ends the run after a batch */
export async function signDueCheckpoints(
  deps: CheckpointDeps,
  signal: AbortSignal,
  batch = 100,
): Promise<void> {
  const signedBefore = new Date(deps.clock().getTime() - UNASKED_EVERY * 1000);
  let after: string | undefined = '';
  while (after !== undefined && !signal.aborted) {
    const heads = await listUnsignedHeadsAcrossTenants(deps.db, signedBefore, after, batch);
    for (const { developerId, seq, hash } of heads) if (hash) await sign(deps, { developerId }, seq, hash);
    after = heads.length < batch ? undefined : heads.at(-1)?.developerId;
  }
}

async function sign(
  { db, clock, keyRing }: CheckpointDeps,
  tenant: Tenant,
  seq: string,
  hash: Buffer,
): Promise<string> {
  const signedAt = clock();
  const iat = Math.floor(signedAt.getTime() / 1000);
  const claims = { dev: tenant.developerId, seq: Number(seq), hash: hash.toString('hex'), iat };
  const jws = await signStatement(keyRing, 'audit-checkpoint+jwt', claims);
  await insertCheckpoint(db, tenant, { seq, hash, jws, signedAt });
  return jws;
}

export interface KnownCheckpoint {
  readonly jws: string;
  /** Undefined when the key that the checkpoint names did not sign it, or when it is about another chain. */
  readonly said: Checkpoint | undefined;
  /** Whether a key of the service signed the checkpoint. A withdrawn key proves nothing. */
  readonly isProved: boolean;
}

/** The newest checkpoint of a chain, read from the signed text and not from the columns beside it. */
export async function latestCheckpoint(
  { db, clock, keyRing }: CheckpointDeps,
  tenant: Tenant,
): Promise<KnownCheckpoint | undefined> {
  const row = await findCheckpoint(db, tenant);
  if (!row) return undefined;
  const keys = () => keyRing.verificationKeys();
  const proved = readCheckpoint(row.jws, { keys, verifySignature, now: clock() });
  const read = proved ?? readUnprovedCheckpoint(row.jws, keys());
  const said = read?.developerId === tenant.developerId ? read : undefined;
  return { jws: row.jws, said, isProved: proved !== undefined && said !== undefined };
}

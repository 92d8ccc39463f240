import { timingSafeEqual } from 'node:crypto';
import { parseDuration } from '@behest/protocol/durations';
import type { Caller, PublishChange, Role } from '../../../platform/caller.ts';
import { mustHold } from '../../../platform/capabilities.ts';
import type { Clock } from '../../../platform/clock.ts';
import { afterCommit, type Executor, inTransaction } from '../../../platform/db/db.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { hashOf, newId } from '../../../platform/ids.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { recordActs } from '../../record/audit/index.ts';
import {
  endKey,
  findKeyAcrossTenants,
  insertKey,
  type KeyRow,
  listKeyRows,
  lockKey,
  lockUsableKeys,
} from './api-keys.repo.ts';
import type { OnKeyBound } from './developers.hooks.ts';
import { lockOpenAccount } from './developers.repo.ts';
import { describeKey, generateKey, keyStatus, MAX_KEYS, prefixOf } from './developers.rules.ts';
import type {
  ApiKey,
  ApiKeyPage,
  ApiKeyQuery,
  CreatedApiKey,
  NewApiKey,
  RotateApiKey,
  RotatedApiKey,
} from './developers.schema.ts';

export interface KeyDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly publishChange: PublishChange;
}

export interface CreateKeyDeps extends KeyDeps {
  readonly onKeyBound: readonly OnKeyBound[];
}

const LONGEST_LIFE = 3650 * 86_400; // seconds
const NOBODY = Buffer.alloc(32);

const USE_WRITTEN_EVERY = 60_000; // milliseconds: the precision of `lastUsedAt`

/** @returns the caller that a key authenticates, or undefined for an unknown, expired or revoked key */
export async function findKeyCaller({ db, clock }: Pick<KeyDeps, 'db' | 'clock'>, hash: Buffer) {
  const found = await findKeyAcrossTenants(db, hash, clock());
  // The index has compared already; this comparison takes the same time for a hit and for a miss.
  const isSame = timingSafeEqual(found?.hash ?? NOBODY, hash);
  if (!found || !isSame) return undefined;
  const { developerId, keyId, agentIds, role, mode, plan, expiresAt, useSeenAt } = found;
  const writeUseAgainAt = new Date(useSeenAt.getTime() + USE_WRITTEN_EVERY);
  const readAgainAt = expiresAt && expiresAt < writeUseAgainAt ? expiresAt : writeUseAgainAt;
  const actor = `developer:${keyId}`;
  return { caller: { tenant: { developerId }, agentIds, actor, keyId, role, mode, plan }, readAgainAt };
}

/** The columns of a new key, with the hash of its secret. */
export function newKey(name: string, role: Role, at: Date, apiKey: string) {
  const row = { id: newId('key', at), name, role, prefix: prefixOf(apiKey), createdAt: at };
  return { ...row, agentIds: null, hash: hashOf(apiKey) };
}

export async function listKeys(deps: KeyDeps, caller: Caller, query: ApiKeyQuery): Promise<ApiKeyPage> {
  const rows = await listKeyRows(deps.db, caller.tenant, query);
  const now = deps.clock();
  const { page, nextCursor } = pageOf(rows, byId, (row) => ({
    ...toApiKey(row, now),
    ...(isOwn(caller, row.id) && { current: true }),
  }));
  return { keys: page, nextCursor };
}

/**
 * Publishes no change, because no process remembers an unknown key.
 * @throws BAD_REQUEST, NOT_FOUND for an agent that the developer does not have or has revoked, CONFLICT at
 * `MAX_KEYS` keys
 */
export function createKey(deps: CreateKeyDeps, caller: Caller, input: NewApiKey): Promise<CreatedApiKey> {
  const { name, role, expiresIn } = input;
  const seconds = expiresIn === undefined ? undefined : parseDuration(expiresIn);
  if (seconds !== undefined && seconds > LONGEST_LIFE) throw badField('expiresIn', 'too_large');
  if (input.agentIds && role !== 'runtime') {
    throw badField('agentIds', 'not_allowed', 'Only a key with the role `runtime` can be bound to agents.');
  }
  const agentIds = input.agentIds ? [...new Set(input.agentIds)] : null;
  const at = deps.clock();
  const apiKey = generateKey(caller.mode);
  const expiresAt = seconds === undefined ? null : new Date(at.getTime() + seconds * 1000);
  const key = { ...newKey(name, role, at, apiKey), agentIds, expiresAt };

  return inTransaction(deps.db, async (tx) => {
    await lockOpenAccount(tx, caller.tenant);
    if (agentIds) for (const listener of deps.onKeyBound) await listener(tx, caller.tenant, agentIds);
    const active = (await lockUsableKeys(tx, caller.tenant, at)).filter(isActive);
    if (active.length >= MAX_KEYS) {
      throw new AppError('CONFLICT', `There are ${MAX_KEYS} active keys; revoke one first.`);
    }
    const row = await insertKey(tx, caller.tenant, key);
    await recordActs(tx, caller, [{ type: 'apikey.created', data: describeKey(row) }], at);
    return { ...toApiKey(row, at), apiKey };
  });
}

/**
 * Replaces the key that makes the call with a new key of the same role, bound to the same agents.
 * @throws UNAUTHORIZED when another rotation came first, because the key is then no longer valid
 */
export function rotateKey(deps: KeyDeps, caller: Caller, input: RotateApiKey): Promise<RotatedApiKey> {
  const at = deps.clock();
  const apiKey = generateKey(caller.mode);
  const graceEnds = new Date(at.getTime() + input.graceSeconds * 1000);

  return inTransaction(deps.db, async (tx) => {
    const usable = await lockUsableKeys(tx, caller.tenant, at);
    const old = usable.find((key) => isOwn(caller, key.id));
    if (!old || !isActive(old)) throw new AppError('UNAUTHORIZED', 'This key was replaced already.');

    const previousKeyExpiresAt = old.expiresAt && old.expiresAt < graceEnds ? old.expiresAt : graceEnds;
    const ends =
      input.graceSeconds === 0
        ? { replacedAt: at, revokedAt: at }
        : { replacedAt: at, expiresAt: previousKeyExpiresAt };
    await endKey(tx, caller.tenant, old.id, ends);
    const name = input.name ?? old.name;
    const key = {
      ...newKey(name, old.role, at, apiKey),
      agentIds: old.agentIds,
      expiresAt: old.expiresAt,
      lineageId: old.lineageId ?? old.id,
      generation: old.generation + 1,
    };
    const row = await insertKey(tx, caller.tenant, key);
    await recordActs(tx, caller, [{ type: 'apikey.rotated', data: describeKey(row) }], at);
    await afterCommit(tx, () => deps.publishChange(caller.tenant));
    return {
      apiKey,
      keyId: key.id,
      rotatedAt: at.toISOString(),
      previousKeyExpiresAt: previousKeyExpiresAt.toISOString(),
    };
  });
}

/**
 * A repeated call changes nothing. @throws NOT_FOUND, CONFLICT for the last `full` key that is not being
 * replaced: after the overlaps, no key of the developer could create another.
 */
export function revokeKey(deps: KeyDeps, caller: Caller, keyId: string): Promise<void> {
  const at = deps.clock();

  return inTransaction(deps.db, async (tx) => {
    const usable = await lockUsableKeys(tx, caller.tenant, at);
    const key = usable.find(({ id }) => id === keyId) ?? (await lockKey(tx, caller.tenant, keyId));
    if (!key) throw notFound();
    if (key.role === 'full') mustHold(caller, 'govern');
    // An earlier revocation is published again, because its notice may have been lost.
    await afterCommit(tx, () => deps.publishChange(caller.tenant));
    if (key.revokedAt) return;
    const staying = usable.filter((each) => each.role === 'full' && isActive(each));
    if (staying.length === 1 && staying[0]?.id === keyId) {
      throw new AppError('CONFLICT', 'This is the last active `full` key; create another one first.');
    }
    await endKey(tx, caller.tenant, keyId, { revokedAt: at });
    await recordActs(tx, caller, [{ type: 'apikey.revoked', data: describeKey(key) }], at);
  });
}

/** Whether a valid key is not being replaced. */
const isActive = ({ replacedAt }: KeyRow) => replacedAt === null;

const isOwn = (caller: Caller, keyId: string) => caller.keyId === keyId;

function toApiKey(row: KeyRow, now: Date): ApiKey {
  const { id, name, role, prefix, createdAt, lastUsedAt, expiresAt, agentIds } = row;
  return {
    id,
    keyId: id,
    name,
    role,
    prefix,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    expiresAt: expiresAt?.toISOString() ?? null,
    status: keyStatus(row, now),
    agentIds,
  };
}

import { timingSafeEqual } from 'node:crypto';
import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { hashOf, newId, newSecret } from '../../../platform/ids.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { findCallerParts } from '../../accounts/developers/developers.queries.ts';
import type { OnAccountClosed } from '../../accounts/developers/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import { lockPeople } from './scim.repo.ts';
import type {
  CreatedScimToken,
  NewScimToken,
  ScimToken,
  ScimTokenPage,
  ScimTokenQuery,
} from './scim.schema.ts';
import {
  countLiveTokens,
  deleteTokenRow,
  findTokenAcrossTenants,
  insertToken,
  listTokenIds,
  listTokenRows,
  noteUse,
  type ScimTokenRow,
} from './tokens.repo.ts';

export interface TokenDeps {
  readonly db: Executor;
  readonly clock: Clock;
}

const MAX_TOKENS = 10;
const USE_WRITTEN_EVERY = 60_000; // milliseconds: the precision of `lastUsedAt`

/** @throws BAD_REQUEST for an end that has passed, CONFLICT at `MAX_TOKENS` live tokens */
export function createToken(deps: TokenDeps, caller: Caller, input: NewScimToken): Promise<CreatedScimToken> {
  const at = deps.clock();
  const { label } = input;
  const expiresAt = input.expiresAt === undefined ? null : new Date(input.expiresAt);
  if (expiresAt && expiresAt <= at) throw badField('expiresAt', 'too_small', '`expiresAt` has passed.');
  const token = `bh_scim_${newSecret()}`;
  const row = { id: newId('scimtok', at), label, createdAt: at, lastUsedAt: null, expiresAt };

  return inTransaction(deps.db, async (tx) => {
    await lockPeople(tx, caller.tenant);
    if ((await countLiveTokens(tx, caller.tenant, at)) >= MAX_TOKENS) {
      throw new AppError('CONFLICT', `An account has at most ${MAX_TOKENS} SCIM tokens; delete one first.`);
    }
    const made = await insertToken(tx, caller.tenant, { ...row, hash: hashOf(token) });
    const data = { tokenId: row.id, label };
    await recordActs(tx, caller, [{ type: 'scim.token.created', data }], at);
    return { ...toToken(made), token };
  });
}

export async function listTokens(
  { db }: TokenDeps,
  { tenant }: Caller,
  query: ScimTokenQuery,
): Promise<ScimTokenPage> {
  const rows = await listTokenRows(db, tenant, query);
  const { page, nextCursor } = pageOf(rows, byId, toToken);
  return { tokens: page, nextCursor };
}

/** No process remembers a token, so the next request with it is refused. @throws NOT_FOUND */
export function deleteToken(deps: TokenDeps, caller: Caller, id: string): Promise<void> {
  return inTransaction(deps.db, async (tx) => {
    const acts = await removeToken(tx, caller, id);
    if (acts.length === 0) throw notFound();
    await recordActs(tx, caller, acts, deps.clock());
  });
}

async function removeToken(tx: Tx, { tenant }: Caller, id: string): Promise<Act[]> {
  const row = await deleteTokenRow(tx, tenant, id);
  return row ? [{ type: 'scim.token.deleted', data: { tokenId: id, label: row.label } }] : [];
}

/** The tokens of a closed account end with it. */
export const removeTokens: OnAccountClosed = async (tx, caller) => {
  const acts: Act[] = [];
  for (const id of await listTokenIds(tx, caller.tenant)) acts.push(...(await removeToken(tx, caller, id)));
  return acts;
};

const NOBODY = Buffer.alloc(32);

/** @returns the caller that a token authenticates, or undefined for an unknown, expired or deleted token */
export async function findProvisioner({ db, clock }: TokenDeps, hash: Buffer) {
  const at = clock();
  const found = await findTokenAcrossTenants(db, hash, at);
  // The index has compared already; this comparison takes the same time for a hit and for a miss.
  const isSame = timingSafeEqual(found?.hash ?? NOBODY, hash);
  if (!found || !isSame) return undefined;
  const { id, developerId, lastUsedAt } = found;
  const tenant = { developerId };
  const account = await findCallerParts(db, tenant);
  if (!account) return undefined;
  const isDue = lastUsedAt === null || at.getTime() - lastUsedAt.getTime() >= USE_WRITTEN_EVERY;
  if (isDue) await noteUse(db, tenant, id, at);
  return { tenant, agentIds: null, actor: `scim:${id}`, role: 'full', ...account } as const;
}

function toToken({ id, label, createdAt, lastUsedAt, expiresAt }: ScimTokenRow): ScimToken {
  return {
    id,
    label,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    expiresAt: expiresAt?.toISOString() ?? null,
  };
}

import type { Role } from '../../caller.ts';
import { hashOf } from '../../ids.ts';
import type { Charging } from '../limits/bills.ts';
import type { RateBill } from '../limits/rates.ts';
import type { Identity } from './credentials.ts';
import { changesVersion, developerVersion, type KnownCallers } from './known-callers.ts';

/** One request on a route that asks for an API key. */
export interface KeyedRequest {
  /** The key as the client sent it, if any. */
  readonly apiKey: string | undefined;
  /** The weakest role that the route allows. */
  readonly role: Role;
  readonly charge: Charging;
  /** Charged whether the key is good or not. */
  readonly anonymousBills: readonly RateBill[];
  /** Charged to the developer whose key it is. */
  readonly developerBill: (identity: Identity) => RateBill;
}

export type Authentication =
  | { readonly result: 'accepted'; readonly identity: Identity }
  | { readonly result: 'refused'; readonly because: 'no_valid_key' | 'role_too_weak' };

/**
 * Finds the caller of an API key and charges the request. A key that this process knows takes one trip to
 * Redis and none to Postgres. Any other key takes one to Redis, one to Postgres and, when it is good, a
 * second one to Redis.
 * @throws RATE_LIMITED
 */
export async function authenticateKey(callers: KnownCallers, request: KeyedRequest): Promise<Authentication> {
  if (request.apiKey === undefined) {
    await request.charge(request.anonymousBills);
    return NO_VALID_KEY;
  }
  const keyHash = hashOf(request.apiKey);
  const recalled = await recallAndCharge(callers, keyHash, request);
  if (recalled.state === 'known') return decide(request, recalled.identity);

  if (recalled.state === 'stale') callers.forget(keyHash);
  const read = await callers.read(keyHash, recalled.changes);
  if (!read) return NO_VALID_KEY;

  const decision = decide(request, read.identity);
  if (decision.result === 'accepted') read.keep(await chargeDeveloper(request, read.identity));
  return decision;
}

const NO_VALID_KEY: Authentication = { result: 'refused', because: 'no_valid_key' };

/**
 * The memory of this process about a key, after Redis was asked whether it still holds. `changes` is the
 * version of all developers, read before the database is asked.
 */
type Recalled =
  | { readonly state: 'known'; readonly identity: Identity }
  /** The developer's version has changed since the key was read. */
  | { readonly state: 'stale'; readonly changes: string | undefined }
  /** Nothing is remembered, or Redis is away and confirms nothing. */
  | { readonly state: 'unknown'; readonly changes: string | undefined };

/**
 * Charges the address and, if it is known, the developer, in one trip. A `stale` developer is charged
 * nothing.
 */
async function recallAndCharge(
  callers: KnownCallers,
  keyHash: Buffer,
  request: KeyedRequest,
): Promise<Recalled> {
  const known = callers.recall(keyHash);
  const developer = known ? [billOf(request, known.identity, known.version)] : [];
  const settled = await request.charge([...request.anonymousBills, everyoneBill(), ...developer]);
  const outcome = settled.get('developer')?.outcome;
  if (known && outcome === 'charged') return { state: 'known', identity: known.identity };
  const changes = settled.get('everyone')?.version;
  return { state: outcome === 'stale' ? 'stale' : 'unknown', changes };
}

/** @returns the versions seen, which tell whether the identity may be remembered */
async function chargeDeveloper(request: KeyedRequest, identity: Identity) {
  const settled = await request.charge([everyoneBill(), billOf(request, identity)]);
  return { changes: settled.get('everyone')?.version, version: settled.get('developer')?.version };
}

/** Charges nothing: the same trip asks for the version of all developers. */
const everyoneBill = (): RateBill => ({ payer: 'everyone', counts: [], version: changesVersion() });

/** The developer of a refused key is not charged. */
function billOf(request: KeyedRequest, identity: Identity, version?: string): RateBill {
  const bill = request.developerBill(identity);
  const { result } = decide(request, identity);
  return {
    ...bill,
    counts: result === 'accepted' ? bill.counts : [],
    version: developerVersion(identity.tenant, version),
  };
}

function decide({ role }: KeyedRequest, identity: Identity): Authentication {
  const isEnough = role === 'runtime' || identity.role === 'full';
  return isEnough ? { result: 'accepted', identity } : { result: 'refused', because: 'role_too_weak' };
}

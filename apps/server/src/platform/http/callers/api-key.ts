import type { Role } from '../../caller.ts';
import { hashOf } from '../../ids.ts';
import type { Charging } from '../limits/bills.ts';
import type { RateBill } from '../limits/rates.ts';
import type { Identity } from './credentials.ts';
import { developerVersion, type KnownCaller, type KnownCallers } from './known-callers.ts';

/** One request on a route that asks for an API key. */
export interface KeyedRequest {
  /** The key as the client sent it, if any. */
  readonly apiKey: string | undefined;
  /** The weakest role that the route allows. */
  readonly role: Role;
  /** Whether the route takes a key that is bound to agents. */
  readonly takesBoundKeys: boolean;
  readonly charge: Charging;
  /** Charged whether the key is good or not. */
  readonly anonymousBills: readonly RateBill[];
  /** Charged to the developer whose key it is. */
  readonly developerBill: (identity: Identity) => RateBill;
}

export type Authentication =
  | { readonly result: 'accepted'; readonly identity: Identity }
  | { readonly result: 'refused'; readonly because: 'no_valid_key' | 'role_too_weak' | 'key_is_bound' };

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
  const known = callers.recall(keyHash);
  const bills = known ? [...request.anonymousBills, knownBill(request, known)] : request.anonymousBills;
  const before = (await request.charge(bills)).get('developer');
  if (known?.version !== undefined && before?.outcome === 'charged') return decide(request, known.identity);

  const read = await callers.read(keyHash);
  if (!read) return NO_VALID_KEY;
  const decision = decide(request, read.identity);
  if (decision.result === 'accepted') {
    const after = (await request.charge([billOf(request, read.identity)])).get('developer');
    read.keep({ before: before?.version, after: after?.version });
  }
  return decision;
}

const NO_VALID_KEY: Authentication = { result: 'refused', because: 'no_valid_key' };

/**
 * Charges the developer whose version is still the known one. Without a known version the trip charges nothing,
 * and reads the version that the developer has before the database is asked.
 */
function knownBill(request: KeyedRequest, { identity, version }: KnownCaller): RateBill {
  if (version !== undefined) return billOf(request, identity, version);
  return { payer: 'developer', counts: [], version: developerVersion(identity.tenant) };
}

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

function decide({ role, takesBoundKeys }: KeyedRequest, identity: Identity): Authentication {
  const isEnough = role === 'runtime' || identity.role === 'full';
  if (!isEnough) return { result: 'refused', because: 'role_too_weak' };
  const isBound = identity.agentIds !== null;
  if (isBound && !takesBoundKeys) return { result: 'refused', because: 'key_is_bound' };
  return { result: 'accepted', identity };
}

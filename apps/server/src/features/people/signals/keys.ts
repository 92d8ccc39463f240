import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../platform/clock.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { AppError } from '../../../platform/errors.ts';
import { readKeySet } from '../../vault/providers/index.ts';

const FRESH_MS = 600_000;
/** A signal with an unknown key makes the service ask again, and strangers can make up keys. */
const REFETCH_MS = 60_000;
const MAX_SETS = 500;

interface Kept {
  readonly keys: JSONWebKeySet;
  readonly readAt: number;
}

/** The keys of transmitters, as this process read them last. */
const known = new WeakMap<Egress, LRUCache<string, Kept>>();

interface KeyDeps {
  readonly upstream: Egress;
  readonly clock: Clock;
}

const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA'],
];

/**
 * Whether the key that the token names has signed it, and the transmitter publishes that key.
 * @throws SERVICE_UNAVAILABLE when the transmitter shows no keys, so that it sends the signal again
 */
export async function isSigned(
  deps: KeyDeps,
  jwksUri: string,
  { set, kid }: { readonly set: string; readonly kid: string },
): Promise<boolean> {
  const keys = await keysOf(deps, jwksUri, kid);
  try {
    await compactVerify(set, createLocalJWKSet(keys), { algorithms: ALGORITHMS });
    return true;
  } catch {
    return false; // jose throws for every token that is not good
  }
}

/** @throws SERVICE_UNAVAILABLE */
async function keysOf({ upstream, clock }: KeyDeps, jwksUri: string, kid: string): Promise<JSONWebKeySet> {
  const sets = known.get(upstream) ?? new LRUCache<string, Kept>({ max: MAX_SETS });
  known.set(upstream, sets);
  const now = clock().getTime();
  const kept = sets.get(jwksUri);
  const age = kept ? now - kept.readAt : Number.POSITIVE_INFINITY;
  const isKnown = kept?.keys.keys.some((key) => key.kid === kid) === true;
  if (kept && (isKnown ? age < FRESH_MS : age < REFETCH_MS)) return kept.keys;
  const keys = await readKeySet(upstream, { jwksUri });
  if (!keys)
    throw new AppError('SERVICE_UNAVAILABLE', 'The keys of the transmitter cannot be read; send again.');
  sets.set(jwksUri, { keys, readAt: now });
  return keys;
}

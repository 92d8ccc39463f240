import { decodeProtectedHeader, type JSONWebKeySet } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Egress } from '../../../platform/egress/egress.ts';
import { type Found, readKeySet } from '../../vault/providers/index.ts';
import type { SsoDeps } from './deps.ts';

const KEYS_MS = 3_600_000;
/** A key set is read again for a key that it lacks, but no oftener, so that tokens with made-up keys cost nothing. */
const AGAIN_MS = 60_000;
const MAX_SETS = 500;

interface Kept {
  readonly keys: JSONWebKeySet;
  readonly readAt: number;
}

/** Key sets of issuers, as this process read them last. */
const known = new WeakMap<Egress, LRUCache<string, Kept>>();

/**
 * The keys of an issuer for one ID token.
 * @returns undefined when the issuer does not answer with a set of keys
 */
export async function keysFor(
  { upstream, clock }: Pick<SsoDeps, 'upstream' | 'clock'>,
  { jwksUri }: Pick<Found, 'jwksUri'>,
  idToken: unknown,
): Promise<JSONWebKeySet | undefined> {
  if (jwksUri === null) return undefined;
  const sets = known.get(upstream) ?? new LRUCache<string, Kept>({ max: MAX_SETS });
  known.set(upstream, sets);
  const kept = sets.get(jwksUri);
  const now = clock().getTime();
  const age = kept ? now - kept.readAt : KEYS_MS;
  const keyId = keyIdOf(idToken);
  const holds = keyId !== undefined && kept?.keys.keys.some(({ kid }) => kid === keyId);
  if (kept && age < (holds ? KEYS_MS : AGAIN_MS)) return kept.keys;
  const keys = await readKeySet(upstream, { jwksUri });
  if (keys) sets.set(jwksUri, { keys, readAt: now });
  return keys;
}

function keyIdOf(token: unknown): string | undefined {
  try {
    return typeof token === 'string' ? decodeProtectedHeader(token).kid : undefined;
  } catch {
    return undefined; // not a token, which the verification says
  }
}

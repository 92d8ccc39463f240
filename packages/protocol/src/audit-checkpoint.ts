import type { AuditEntry } from './audit-chain.ts';
import { isLegacyKeyId } from './key-id.ts';
import { findKey, type KeySet, type VerificationJwk } from './key-set.ts';
import { createKindVerifier } from './kind-verifier.ts';
import type { SignatureToCheck } from './token-checks.ts';
import { readTokenParts } from './token-parts.ts';

/** A signed statement of the hash that a developer's chain had at a number and a time. */
export interface Checkpoint {
  readonly developerId: string;
  /** The number of the last entry at that time. */
  readonly seq: number;
  /** The hash of that entry, 64 digits of lower-case hex. */
  readonly hash: string;
  readonly signedAt: Date;
}

/** The means of `readCheckpoint`. */
export interface CheckpointVerifier<Key extends VerificationJwk> {
  /** The keys of the service, such as `keySetOf` makes of `GET /.well-known/jwks.json`. */
  readonly keys: () => KeySet<Key>;
  /** Checks one signature, as for `createTokenVerifier`. */
  readonly verifySignature: (check: SignatureToCheck<Key>) => boolean;
  readonly now: Date;
}

/**
 * Reads a checkpoint as `GET /v1/audit/head` answers it: a compact JWS with `typ` `audit-checkpoint+jwt` and the
 * claims `dev`, `seq`, `hash` and `iat`.
 *
 * @returns undefined when the text is not a checkpoint, or no given key signed it
 * @see RFC 7515 for the form
 *
 * @example
 * ```ts
 * const checkpoint = readCheckpoint(head.checkpoint, { keys: () => keys, verifySignature, now: new Date() });
 * if (!checkpoint) throw new Error('The service did not sign this checkpoint.');
 * if (!agreesWithCheckpoint(checkpoint, entries)) throw new Error('The chain was cut off or replaced.');
 * ```
 */
export function readCheckpoint<Key extends VerificationJwk>(
  jws: string,
  { keys, verifySignature, now }: CheckpointVerifier<Key>,
): Checkpoint | undefined {
  const setup = { keys, verifySignature, issuer: '' }; // the kind names no issuer
  const verified = createKindVerifier('audit-checkpoint', setup)(jws, { now });
  return verified.ok ? checkpointOf(verified.payload) : undefined;
}

/**
 * Reads a checkpoint without its signature, because its key has been withdrawn and is no longer among `keys`.
 * Anybody could have written such a checkpoint, so it proves nothing; a chain that disagrees with it is suspect
 * all the same.
 *
 * @returns undefined when the text is not a checkpoint, or its key is among `keys` (use `readCheckpoint` then)
 */
export function readUnprovedCheckpoint<Key extends VerificationJwk>(
  jws: string,
  keys: KeySet<Key>,
): Checkpoint | undefined {
  const parts = readTokenParts(jws, 'audit-checkpoint');
  if (!parts.ok) return undefined;
  const { kid } = parts.header;
  const found = findKey(parts.header, keys);
  const isMissing = !found.ok && found.reason === 'key_not_found';
  // A month names the legacy key of that month, which need not be the legacy key of today.
  const isOfAnyKey = kid !== undefined && isLegacyKeyId(kid);
  return isMissing || isOfAnyKey ? checkpointOf(parts.payload) : undefined;
}

/**
 * Reads the claims `dev`, `seq`, `hash` and `iat` (seconds). The caller verifies their signature.
 *
 * @returns undefined when the claims are not those of a checkpoint
 */
export function checkpointOf({
  dev,
  seq,
  hash,
  iat,
}: Readonly<Record<string, unknown>>): Checkpoint | undefined {
  if (typeof dev !== 'string' || typeof hash !== 'string' || !/^[0-9a-f]{64}$/.test(hash)) return undefined;
  if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || seq < 1 || typeof iat !== 'number') {
    return undefined;
  }
  return { developerId: dev, seq, hash, signedAt: new Date(iat * 1000) };
}

/**
 * Tells whether a chain that was exported later still holds the entry of a checkpoint. A valid chain that does not
 * was cut off at its end, or replaced.
 *
 * @param entries the part of the chain that should hold the entry `seq`; false when it does not
 */
export function agreesWithCheckpoint(
  { seq, hash, developerId }: Checkpoint,
  entries: Iterable<AuditEntry>,
): boolean {
  for (const entry of entries) {
    if (entry.seq === seq) return entry.hash === hash && entry.developerId === developerId;
  }
  return false;
}

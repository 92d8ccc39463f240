import type { AuditEntry } from './audit-chain.ts';
import { isLegacyKeyId } from './key-id.ts';
import { findKey, type KeySet, type VerificationJwk } from './key-set.ts';
import { readTokenParts } from './token-parts.ts';
import { createTokenVerifier, type SignatureToCheck } from './token-verifier.ts';

/** A signed statement about where a chain ended at a time. */
export interface Checkpoint {
  readonly developerId: string;
  readonly seq: number;
  /** Of the entry with that `seq`, in lower-case hex. */
  readonly hash: string;
  readonly signedAt: Date;
}

export interface CheckpointVerifier<Key extends VerificationJwk> {
  readonly keys: () => KeySet<Key>;
  readonly verifySignature: (check: SignatureToCheck<Key>) => boolean;
  readonly now: Date;
}

/**
 * Reads a checkpoint as `GET /v1/audit/head` answers it: a compact JWS with `typ` `audit-checkpoint+jwt` and the
 * claims `dev`, `seq`, `hash` and `iat`.
 *
 * @returns undefined for what is none, or was not signed with one of the keys
 */
export function readCheckpoint<Key extends VerificationJwk>(
  jws: string,
  { keys, verifySignature, now }: CheckpointVerifier<Key>,
): Checkpoint | undefined {
  const verifier = createTokenVerifier({ keys, verifySignature, issuer: '' }); // the kind names no issuer
  const verified = verifier.verifyAs('audit-checkpoint', jws, { now });
  return verified.ok ? checkpointOf(verified.payload) : undefined;
}

/**
 * Reads a checkpoint that nobody can verify any more, because the key it was signed with is not among these: it has
 * been withdrawn. Anybody could have written what it says, so it proves nothing; what disagrees with it is suspect
 * all the same.
 *
 * @returns undefined for what is none, and for one whose key is among these, of which `readCheckpoint` has the truth
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
  // A month says that it was the key of then, and that need not be the one that stands for months now.
  const isOfAnyKey = kid !== undefined && isLegacyKeyId(kid);
  return isMissing || isOfAnyKey ? checkpointOf(parts.payload) : undefined;
}

/** @returns undefined unless the claims, whose signature is the caller's to verify, are those of a checkpoint */
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
 * Whether a chain that was exported later still holds what a checkpoint says. One that verifies and does not was
 * cut off at its end, or written anew.
 *
 * @param entries any of the chain, the last one among them
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

import canonicalize from 'canonicalize';
import type { AuditEntry } from './audit-chain.ts';
import { base64urlBytes, decodeBase64url, encodeBase64url } from './base64url.ts';
import { bytesOfHex, bytesOfText, hexOfBytes, joinBytes } from './bytes.ts';

/** SHA-256 of bytes. */
export type Digest = (bytes: Uint8Array) => Uint8Array;

/** An entry as the service keeps it after an erasure: its parts, of which some are shown, and the members that are left. */
export interface ErasedEntry {
  readonly parts: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

const ascii = new TextDecoder();
const OWN = 'entry/1';
const OF_METADATA = 'metadata.';

/**
 * The parts of an entry, as salted disclosures: the first has its own facts, the second its principal, each further one a
 * member of the metadata. From the third on their order is that of their digests, so it tells nothing of hidden names.
 * The hash of all digests, the leaf, stays the same whichever parts are shown.
 *
 * @see RFC 9901, section 4.2; RFC 6962, section 2.1
 */
export const partsOf = (entry: AuditEntry, sha256: Digest): string[] =>
  disclosuresOf(entry, sha256).map(({ text }) => ascii.decode(text));

/** The leaf of an entry that shows all its parts. */
export const leafOfEntry = (entry: AuditEntry & { readonly hash: string }, sha256: Digest): Uint8Array =>
  leafOfDigests(
    entry.hash,
    disclosuresOf(entry, sha256).map(({ digest }) => digest),
    sha256,
  );

function disclosuresOf(entry: AuditEntry, sha256: Digest): { text: Uint8Array; digest: Uint8Array }[] {
  const salt = entry.salt == null ? undefined : decodeBase64url(entry.salt);
  const part = (name: string, json: string | undefined) => {
    const own = salt && sha256(joinBytes([salt, bytesOfText(name)])).subarray(0, 16);
    const text = disclosure(own ?? new Uint8Array(), name, json);
    return { text, digest: sha256(text) };
  };
  const members = Object.entries(entry.metadata).map(([name, value]) =>
    part(`${OF_METADATA}${name}`, canonicalize(value)),
  );
  members.sort((one, other) => compareBytes(one.digest, other.digest));
  const own = part(OWN, JSON.stringify(ownFacts(entry))); // their order is the canonical one
  return [own, part('principalId', canonicalize(entry.principalId ?? null)), ...members];
}

/** A salted disclosure. @param salt 16 random bytes, without which a reader of its digest could guess the value */
export const partOf = (salt: Uint8Array, name: string, value: unknown): string =>
  ascii.decode(disclosure(salt, name, canonicalize(value)));

const disclosure = (salt: Uint8Array, name: string, json = 'null'): Uint8Array =>
  base64urlBytes(bytesOfText(`["${encodeBase64url(salt)}",${canonicalize(name)},${json}]`));

/** The leaf of an entry: it binds the hash of the whole entry to its parts, hidden ones included. */
export const leafOf = (hash: string, parts: readonly string[], sha256: Digest): Uint8Array =>
  leafOfDigests(hash, digestsOf(parts, sha256), sha256);

export const leafOfDigests = (hash: string, digests: readonly Uint8Array[], sha256: Digest): Uint8Array =>
  sha256(joinBytes([new Uint8Array([0]), bytesOfHex(hash), ...digests]));

/** The hash of parts that belong to no entry, such as those of a consent record: the same whichever are shown. */
export const commitmentTo = (parts: readonly string[], sha256: Digest): string =>
  hexOfBytes(sha256(joinBytes([new Uint8Array([2]), ...digestsOf(parts, sha256)])));

/** The digest of each part, whether it is shown or hidden. */
export const digestsOf = (parts: readonly string[], sha256: Digest): Uint8Array[] =>
  parts.map((part) =>
    part.startsWith('#') ? (decodeBase64url(part.slice(1)) ?? new Uint8Array()) : sha256(bytesOfText(part)),
  );

/** Hides the parts of some names, and never an entry's own facts. */
export const hideParts = (
  parts: readonly string[],
  isHidden: (name: string) => boolean,
  sha256: Digest,
): string[] =>
  parts.map((part) => {
    const [name] = part.startsWith('#') ? [OWN] : contentOf(part);
    return name === OWN || !isHidden(name) ? part : hidden(part, sha256);
  });

const hidden = (part: string, sha256: Digest) => `#${encodeBase64url(sha256(bytesOfText(part)))}`;

/** Hides every part but the entry's own facts and the members of the metadata that stay. */
export function erasedParts(
  parts: readonly string[],
  isKept: (member: string, value: unknown) => boolean,
  sha256: Digest,
): ErasedEntry {
  const metadata: Record<string, unknown> = Object.create(null);
  const shown = parts.map((part, at) => {
    const [name, value] = contentOf(part);
    if (at === 0) return part;
    const member = name.startsWith(OF_METADATA) ? name.slice(OF_METADATA.length) : undefined;
    if (member === undefined || !isKept(member, value)) return hidden(part, sha256);
    metadata[member] = value;
    return part;
  });
  return { parts: shown, metadata };
}

/** Whether an erased entry says no more and nothing else than its shown parts. */
export function agreesWithParts(entry: AuditEntry, parts: readonly string[]): boolean {
  const [own, principal, ...members] = parts;
  if (own === undefined || principal === undefined || !principal.startsWith('#')) return false;
  try {
    const [name, facts] = contentOf(own);
    const shown = members.filter((part) => !part.startsWith('#')).map(contentOf);
    const metadata = Object.fromEntries(
      shown.map(([part, value]) => [part.slice(OF_METADATA.length), value]),
    );
    return (
      name === OWN &&
      canonicalize(facts) === canonicalize(ownFacts(entry)) &&
      shown.every(([part]) => part.startsWith(OF_METADATA)) &&
      canonicalize(metadata) === canonicalize(entry.metadata)
    );
  } catch {
    return false; // a part that is no disclosure
  }
}

function ownFacts({
  action,
  agentDid,
  agentId,
  developerId,
  grantId,
  id,
  purpose,
  seq,
  status,
  timestamp,
}: AuditEntry) {
  return {
    action,
    agentDid: agentDid ?? null,
    agentId: agentId ?? null,
    developerId,
    grantId: grantId ?? null,
    id,
    purpose: purpose ?? null,
    seq,
    status,
    timestamp,
  };
}

function contentOf(part: string): [name: string, value: unknown] {
  const bytes = decodeBase64url(part);
  const [, name, value] = JSON.parse(new TextDecoder().decode(bytes));
  return [String(name), value];
}

/** Below 0 where the first differing byte of `one` is less. */
export function compareBytes(one: Uint8Array, other: Uint8Array): number {
  const at = one.findIndex((byte, index) => byte !== other[index]);
  return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}

import { canonicalJson } from './canonical-json.ts';
import {
  type Attestation,
  checkEvidencePack,
  isSigned,
  type PackProblem,
  type PackVerdict,
  type PackVerifier,
} from './evidence-pack.ts';
import { parseJsonText } from './json.ts';
import type { VerificationJwk } from './key-set.ts';
import { readZip } from './stored-zip.ts';

/** The members of an archive, in their order: the manifest is about those before it. */
export const archiveMembers = [
  'pack.json',
  'chain.json',
  'report.html',
  'jwks.json',
  'manifest.json',
] as const;

export const MANIFEST_TYPE = 'evidence-manifest+jws';

/**
 * The first fault of an archive: it is no archive of the service's form (`malformed`); the manifest is not the one that was
 * signed (`manifest_changed`, `bad_signature`); a member is not the one that the manifest names (`member_changed`); the
 * pack in it has a fault of its own.
 */
export type ArchiveProblem = PackProblem | 'manifest_changed' | 'member_changed';

export interface ArchiveVerdict extends Omit<PackVerdict, 'problem'> {
  readonly problem: ArchiveProblem | null;
  /** The name of the member that was changed. */
  readonly member?: string;
}

interface Manifest {
  readonly schemaVersion: string;
  readonly generatedAt: string;
  readonly members: readonly { readonly name: string; readonly sha256: string; readonly size: number }[];
  readonly attestation: Attestation;
}

/**
 * Checks the archive of an evidence pack with the public keys of the service and nothing else. A change of any byte is
 * found. The keys in the archive are for reading: take the keys of the check from the service, or from where you keep them.
 *
 * @param bytes the answer of `GET /v1/compliance/evidence-pack?format=zip`, as it was received
 * @returns the verdict, and that of the pack in it; the function does not throw for any bytes
 *
 * @example
 * ```ts
 * const verdict = checkEvidenceArchive(await readFile('evidence.zip'), { keys: keySetOf(jwks), verifySignature, sha256 });
 * if (!verdict.isGenuine) throw new Error(`The service did not sign this: ${verdict.problem} ${verdict.member ?? ''}`);
 * ```
 */
export function checkEvidenceArchive<Key extends VerificationJwk>(
  bytes: Uint8Array,
  verifier: PackVerifier<Key>,
): ArchiveVerdict {
  const found = readZip(bytes);
  if (!found || [...found.keys()].join() !== archiveMembers.join()) return refused('malformed');
  const texts = new Map<string, string>();
  for (const [name, content] of found) {
    const text = textOf(content);
    if (text === undefined) return refused('malformed', name);
    texts.set(name, text);
  }
  const manifest = manifestIn(texts.get('manifest.json') ?? '');
  if (!manifest) return refused('manifest_changed', 'manifest.json');

  const { attestation, ...facts } = manifest;
  const digest = verifier.sha256(canonicalJson(facts));
  if (attestation.digest !== digest) return refused('manifest_changed', 'manifest.json');
  if (!isSigned(attestation, { typ: MANIFEST_TYPE, digest }, verifier)) return refused('bad_signature');
  const told = archiveMembers.slice(0, -1).map((name) => ({
    name,
    sha256: verifier.sha256(texts.get(name) ?? ''),
    size: found.get(name)?.length ?? 0,
  }));
  const at = told.findIndex((member, index) => !isSame(member, facts.members[index]));
  if (at >= 0 || facts.members.length !== told.length) return refused('member_changed', told[at]?.name);

  const pack = texts.get('pack.json') ?? '';
  const verdict = checkEvidencePack(found.get('pack.json') ?? new Uint8Array(), verifier);
  if (!verdict.isGenuine) return { ...verdict, member: 'pack.json' };
  const { chainIntegrity } = Object(parseJsonText(pack, pack.length));
  if (canonicalJson(chainIntegrity) !== texts.get('chain.json'))
    return refused('member_changed', 'chain.json');
  return verdict;
}

const refused = (problem: ArchiveProblem, member?: string): ArchiveVerdict => ({
  isGenuine: false,
  problem,
  chain: null,
  ...(member !== undefined && { member }),
});

const isSame = (one: object, other: object | undefined) =>
  other !== undefined && canonicalJson(one) === canonicalJson(other);

/** @returns undefined unless the text is a manifest in its canonical form */
function manifestIn(text: string): Manifest | undefined {
  try {
    const value: Manifest = Object(parseJsonText(text, text.length));
    const { members, attestation } = value;
    if (!Array.isArray(members) || Object(attestation) !== attestation) return undefined;
    return canonicalJson(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

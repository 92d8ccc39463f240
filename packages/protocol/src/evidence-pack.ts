import { type AuditEntry, type ChainVerdict, verifyChain, verifyExcerpt } from './audit-chain.ts';
import { decodeBase64url, encodeBase64url } from './base64url.ts';
import { canonicalJson } from './canonical-json.ts';
import { parseJson, parseJsonText } from './json.ts';
import { findKey, type KeySet, signatureLength, type VerificationJwk } from './key-set.ts';
import { isGenuine, type SignatureToCheck } from './token-checks.ts';

/** The means of `checkEvidencePack`. */
export interface PackVerifier<Key extends VerificationJwk> {
  /** The keys of the service, such as `keySetOf` makes of `GET /.well-known/jwks.json`. */
  readonly keys: KeySet<Key>;
  /** Checks one signature, as for `createTokenVerifier`. */
  readonly verifySignature: (check: SignatureToCheck<Key>) => boolean;
  /** Hashes the UTF-8 of a text to 64 digits of lower-case hex. */
  readonly sha256: (text: string) => string;
}

/**
 * The first fault of a pack: it is not a pack (`malformed`); its bytes are not those that the service writes
 * (`not_canonical`); a list, or the facts beside the lists, are not those that were signed (`grants_changed`,
 * `audit_entries_changed`, `policies_changed`, `facts_changed`); no given key signed it (`bad_signature`); or it says
 * that its chain is good, and the entries say otherwise (`chain_disagrees`).
 */
export type PackProblem =
  | 'malformed'
  | 'not_canonical'
  | 'grants_changed'
  | 'audit_entries_changed'
  | 'policies_changed'
  | 'facts_changed'
  | 'bad_signature'
  | 'chain_disagrees';

/** The result of a check of a pack. */
export interface PackVerdict {
  /** Whether the pack is, byte for byte, one that the service signed. */
  readonly isGenuine: boolean;
  readonly problem: PackProblem | null;
  /**
   * The check of the entries in the pack, made from them alone; null for a text that is not a pack. A genuine pack of a
   * chain that somebody broke is genuine: look at `chain.valid`, and at `chainIntegrity` of the pack. A pack about one
   * agent, person or case (`meta.subject`) has a part of the entries, and `chainIntegrity` is about all of them.
   */
  readonly chain: ChainVerdict | null;
}

/** The lists of a pack, each with the problem of a list that was changed. */
const lists = [
  ['grants', 'grants_changed'],
  ['auditEntries', 'audit_entries_changed'],
  ['policies', 'policies_changed'],
] as const;

interface Pack {
  readonly meta: object;
  readonly summary: object;
  readonly grants: readonly object[];
  readonly auditEntries: readonly AuditEntry[];
  readonly policies: readonly object[];
  readonly chainIntegrity: { readonly valid: boolean; readonly fromSeq: number };
  readonly controls: readonly object[];
  readonly attestation: {
    readonly sections: Readonly<Record<string, unknown>>;
    readonly digest: unknown;
    readonly alg: unknown;
    readonly kid: unknown;
    readonly signature: unknown;
  };
}

/**
 * Checks an evidence pack with the public keys of the service and nothing else. A change of any byte is found.
 *
 * @param bytes the answer of `GET /v1/compliance/evidence-pack`, as it was received
 * @returns the verdict; the function does not throw for any bytes
 * @see RFC 8785 for the canonical form; RFC 7515, appendix F, for the signature
 *
 * @example
 * ```ts
 * const verdict = checkEvidencePack(await readFile('pack.json'), { keys: keySetOf(jwks), verifySignature, sha256 });
 * if (!verdict.isGenuine) throw new Error(`The service did not sign this pack: ${verdict.problem}`);
 * ```
 */
export function checkEvidencePack<Key extends VerificationJwk>(
  bytes: Uint8Array,
  verifier: PackVerifier<Key>,
): PackVerdict {
  const { sha256 } = verifier;
  let pack: Pack;
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value = parseJsonText(text, text.length);
    if (!isPack(value)) return refused('malformed');
    if (textOf(value) !== text) return refused('not_canonical');
    pack = value;
  } catch {
    return refused('malformed'); // JsonError, or a value that has no canonical form
  }

  const { meta, summary, chainIntegrity, controls, attestation } = pack;
  const { sections, digest } = attestation;
  for (const [name, problem] of lists) {
    const lines = pack[name].map((element) => `${canonicalJson(element)}\n`).join('');
    if (sections[name] !== sha256(lines)) return refused(problem);
  }
  const facts = { meta, summary, chainIntegrity, controls, sections };
  if (digest !== sha256(canonicalJson(facts))) return refused('facts_changed');
  if (!isSigned(attestation, { typ: 'evidence-pack+jws', digest: String(digest) }, verifier))
    return refused('bad_signature');

  const verify = 'subject' in meta ? verifyExcerpt : verifyChain;
  const chain = verify(pack.auditEntries, { fromSeq: chainIntegrity.fromSeq }, sha256);
  const agrees = chain.valid || !chainIntegrity.valid;
  return { isGenuine: agrees, problem: agrees ? null : 'chain_disagrees', chain };
}

const refused = (problem: PackProblem): PackVerdict => ({ isGenuine: false, problem, chain: null });

function isPack(value: unknown): value is Pack {
  if (!isObject(value)) return false;
  const { meta, summary, chainIntegrity, attestation, controls } = value;
  const areLists = lists.every(([name]) => isListOfObjects(value[name]));
  if (!areLists || !isListOfObjects(controls) || !isObject(meta) || !isObject(summary)) return false;
  if (!isObject(chainIntegrity) || typeof chainIntegrity.valid !== 'boolean') return false;
  if (!Number.isSafeInteger(chainIntegrity.fromSeq)) return false;
  return isObject(attestation) && isObject(attestation.sections);
}

/** The text that the service writes for a pack. */
function textOf({ meta, summary, chainIntegrity, controls, attestation, ...pack }: Pack): string {
  const list = (elements: readonly object[]) => `[${elements.map(canonicalJson).join(',')}]`;
  return [
    `{"meta":${canonicalJson(meta)}`,
    `"summary":${canonicalJson(summary)}`,
    ...lists.map(([name]) => `"${name}":${list(pack[name])}`),
    `"chainIntegrity":${canonicalJson(chainIntegrity)}`,
    `"controls":${list(controls)}`,
    `"attestation":${canonicalJson(attestation)}}`,
  ].join(',');
}

/** The statement of who signed a digest. */
export type Attestation = Omit<Pack['attestation'], 'sections'>;

/** Whether a key of the service signed the digest with the header that the attestation repeats. */
export function isSigned<Key extends VerificationJwk>(
  { alg, kid, signature: jws }: Attestation,
  { typ, digest }: { readonly typ: string; readonly digest: string },
  verifier: PackVerifier<Key>,
): boolean {
  const [headerText = '', payload, signatureText = '', ...more] = String(jws).split('.', 4);
  const headerBytes = decodeBase64url(headerText);
  const signature = decodeBase64url(signatureText);
  if (payload !== '' || more.length > 0 || !headerBytes || !signature) return false;
  if ((alg !== 'RS256' && alg !== 'ES256') || typeof kid !== 'string') return false;
  if (!isHeader(headerBytes, { alg, kid, typ })) return false;
  const found = findKey({ alg, kid }, verifier.keys);
  if (!found.ok || signature.length !== signatureLength(alg, found.key)) return false;
  const signed = new TextEncoder().encode(
    `${headerText}.${encodeBase64url(new TextEncoder().encode(digest))}`,
  );
  return isGenuine(verifier, { alg, key: found.key, signed, signature });
}

function isHeader(bytes: Uint8Array, expected: object): boolean {
  try {
    const header = parseJson(bytes);
    return isObject(header) && canonicalJson(header) === canonicalJson(expected);
  } catch {
    return false;
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isListOfObjects = (value: unknown) => Array.isArray(value) && value.every(isObject);

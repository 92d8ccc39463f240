import type { Digest } from '../audit-parts.ts';
import { decodeBase64url, encodeBase64url } from '../base64url.ts';
import { canonicalJson } from '../canonical-json.ts';
import { parseJsonText } from '../json.ts';
import type { LimitsReport } from '../limits-report.ts';

/** The largest receipt that is read, in characters. */
const LONGEST = 256 * 1024 * 1024;

/** An entry with its parts. A hidden part is `#` and its digest. */
export interface ShownEntry {
  /** The position in the log, from 0. */
  readonly index: number;
  /** The hash of the entry in its chain, in hex. */
  readonly hash: string;
  readonly parts: readonly string[];
}

/** An entry of which only the leaf hash is left, in base64. */
export interface WithheldEntry {
  readonly index: number;
  readonly leafHash: string;
}

/** A receipt as a file holds it. Nothing in it is checked by its shape alone. */
export interface Receipt {
  readonly format: 'behest.receipt/1';
  readonly issuer: string;
  readonly issuerDid: string;
  readonly generatedAt: string;
  readonly audience: 'principal' | 'developer';
  readonly sandbox?: true;
  readonly grantId: string;
  readonly rootGrantId: string;
  readonly log: { readonly origin: string; readonly url: string; readonly vkey: string | null };
  readonly consent: { readonly parts: readonly string[] } | null;
  /** Ascending by index. */
  readonly entries: readonly (ShownEntry | WithheldEntry)[];
  /** The roots of the subtrees without an entry of the receipt, left to right, in base64. */
  readonly proof: readonly string[];
  /** How far the caps and budgets of the tree were used. Absent in a receipt of a part of the time, or taken out. */
  readonly limits?: LimitsReport;
  readonly checkpoint: { readonly size: number; readonly root: string; readonly note: string | null };
  /** The service's signed words that these are all entries: a compact JWS. */
  readonly statement: string;
  readonly warnings: readonly string[];
  readonly keys: { readonly did: unknown; readonly jwks: unknown; readonly witnesses: readonly string[] };
  /** Names for display. The service signed them, and no entry holds them. */
  readonly labels: {
    readonly agents: Readonly<Record<string, string>>;
    readonly scopes: Readonly<Record<string, string>>;
  };
}

/**
 * Reads a receipt, or the receipt inside an HTML page.
 *
 * @param file the text of a file, or a value that was parsed before
 * @returns undefined for anything that has not the shape of a receipt
 */
export function readReceipt(file: unknown): Receipt | undefined {
  try {
    const text = typeof file === 'string' ? textIn(file) : JSON.stringify(file);
    if (text.length > LONGEST) return undefined;
    const value = parseJsonText(text, text.length);
    return isReceipt(value) ? value : undefined;
  } catch {
    return undefined; // JsonError, or a value that is not of JSON
  }
}

/**
 * The hash over everything beside the entries, the consent and the limits, which the statement binds. It stays the same whatever a
 * holder hides.
 */
export function headOf(receipt: Receipt, sha256: Digest): string {
  const { consent, entries, limits, proof, statement, ...head } = receipt;
  return encodeBase64url(sha256(new TextEncoder().encode(canonicalJson(head))));
}

const INSIDE = '<script type="application/json" id="receipt">';

/** A page holds the receipt with each `<` escaped, so the first `</script>` ends it. */
function textIn(file: string): string {
  const begin = file.trimStart().startsWith('<') ? file.indexOf(INSIDE) : -1;
  if (begin < 0) return file;
  const from = begin + INSIDE.length;
  return file.slice(from, file.indexOf('</script>', from));
}

function isReceipt(value: unknown): value is Receipt {
  if (!isObject(value) || value.format !== 'behest.receipt/1') return false;
  const { log, consent, entries, proof, checkpoint, keys, labels } = value;
  const texts = ['issuer', 'issuerDid', 'generatedAt', 'grantId', 'rootGrantId', 'statement'];
  if (!texts.every((name) => isText(value[name]))) return false;
  if (value.audience !== 'principal' && value.audience !== 'developer') return false;
  if (value.sandbox !== undefined && value.sandbox !== true) return false;
  if (!isObject(log) || !isText(log.origin) || !isText(log.url) || !isTextOrNull(log.vkey)) return false;
  const hasConsent = isObject(consent) && areParts(consent.parts) && Object.keys(consent).length === 1;
  if (consent !== null && !hasConsent) return false;
  if (!areTexts(value.warnings) || !isObject(keys) || !areTexts(keys.witnesses)) return false;
  if (!isObject(labels) || !areNames(labels.agents) || !areNames(labels.scopes)) return false;
  if (!Array.isArray(proof) || !proof.every(isHash)) return false;
  if (value.limits !== undefined && !isObject(value.limits)) return false;
  return isCheckpoint(checkpoint) && areEntries(entries, checkpoint.size);
}

function isCheckpoint(value: unknown): value is Receipt['checkpoint'] {
  return isObject(value) && isWhole(value.size) && isHash(value.root) && isTextOrNull(value.note);
}

function areEntries(value: unknown, size: number): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  let before = -1;
  return value.every((entry) => {
    if (!isObject(entry) || !isWhole(entry.index) || entry.index <= before || entry.index >= size)
      return false;
    before = entry.index;
    if ('leafHash' in entry) return isHash(entry.leafHash) && Object.keys(entry).length === 2;
    const isHex = isText(entry.hash) && /^[0-9a-f]{64}$/.test(entry.hash);
    return isHex && areParts(entry.parts) && Object.keys(entry).length === 3;
  });
}

/** SHA-256 in base64 with padding, of which each hash has one text. */
const isHash = (value: unknown) => isText(value) && /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/.test(value);

function areParts(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isPart);
}

function isPart(value: unknown): boolean {
  if (!isText(value)) return false;
  const bytes = decodeBase64url(value.startsWith('#') ? value.slice(1) : value);
  return bytes !== undefined && (value.startsWith('#') ? bytes.length === 32 : bytes.length > 0);
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isTextOrNull = (value: unknown) => value === null || isText(value);
const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const areTexts = (value: unknown) => Array.isArray(value) && value.every(isText);
const areNames = (value: unknown) => isObject(value) && Object.values(value).every(isText);

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

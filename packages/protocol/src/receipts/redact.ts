import { type Digest, leafOf } from '../audit-parts.ts';
import { checkLimits } from '../limits.ts';
import type { LimitsReport } from '../limits-report.ts';
import { encodeBase64 } from '../signed-note.ts';
import { CONSENT_PARTS } from './consent.ts';
import { digestOfPart, isHidden, isWithheld, readEntries, readPart } from './entries.ts';
import type { Receipt, ShownEntry } from './read.ts';

/** What a holder takes out of a receipt before passing it on. */
export interface Redaction {
  /** Parts of entries by their names: `principalId`, `metadata.ip`. */
  readonly hide?: readonly string[];
  /** Entries by their indices in the log. */
  readonly drop?: readonly number[];
  /** Parts of the consent record: `principalId`, `decision`, `proof`, `consent/1`; `all` for the whole record. */
  readonly hideConsent?: readonly string[];
}

/**
 * Takes parts out of a receipt. What is left still verifies: a hidden part leaves its digest, and an entry its leaf hash.
 * The record of the consent goes with the entry that proves it, and the limits with what they are counted from.
 *
 * @throws RangeError for a part or an entry that the receipt has not, or that cannot be hidden
 */
export function redactWith(
  receipt: Receipt,
  { hide = [], drop = [], hideConsent = [] }: Redaction,
  sha256: Digest,
): Receipt {
  if (hide.includes('entry/1'))
    throw new RangeError('The facts of an entry cannot be hidden: drop the entry.');
  const indices = new Set(receipt.entries.map(({ index }) => index));
  const unknown = drop.find((index) => !indices.has(index));
  if (unknown !== undefined) throw new RangeError(`The receipt has no entry ${unknown}.`);
  const found = new Set<string>();

  const entries = receipt.entries.map((entry) => {
    if (isWithheld(entry)) return entry;
    const { index, hash, parts } = entry;
    if (drop.includes(index)) return { index, leafHash: encodeBase64(leafOf(hash, parts, sha256)) };
    return { index, hash, parts: parts.map((part) => hidden(part, { hide, found, sha256 })) };
  });
  const missing = hide.find((name) => !found.has(name));
  if (missing !== undefined) throw new RangeError(`No entry of the receipt shows ${missing}.`);

  const consent = consentLeft(receipt, { entries, hideConsent, sha256 });
  const { limits, ...left } = { ...receipt, entries, consent };
  return limits && isCounted(left, limits, sha256) ? { ...left, limits } : left;
}

/** Whether the entries still show all that the limits were counted from: they name tools, caps and amounts too. */
function isCounted(receipt: Receipt, { unread }: LimitsReport, sha256: Digest): boolean {
  const read = readEntries(receipt, sha256);
  return !('faulty' in read) && checkLimits(read.entries, read.withheld).unread <= unread;
}

interface Hiding {
  readonly hide: readonly string[];
  readonly found: Set<string>;
  readonly sha256: Digest;
}

function hidden(part: string, { hide, found, sha256 }: Hiding): string {
  const name = isHidden(part) ? undefined : readPart(part)?.name;
  if (name === undefined || !hide.includes(name)) return part;
  found.add(name);
  return `#${digestOfPart(part, sha256)}`;
}

interface Left {
  readonly entries: Receipt['entries'];
  readonly hideConsent: readonly string[];
  readonly sha256: Digest;
}

function consentLeft({ consent }: Receipt, { entries, hideConsent, sha256 }: Left): Receipt['consent'] {
  const unknown = hideConsent.find((name) => name !== 'all' && !CONSENT_PARTS.some((part) => part === name));
  if (unknown !== undefined) throw new RangeError(`The consent record has no part ${unknown}.`);
  const isProven = entries.some((entry) => !isWithheld(entry) && showsConsentHash(entry));
  if (consent === null || hideConsent.includes('all') || !isProven) return null;
  const parts = consent.parts.map((part, at) => {
    const isToHide = !isHidden(part) && hideConsent.includes(CONSENT_PARTS[at] ?? '');
    return isToHide ? `#${digestOfPart(part, sha256)}` : part;
  });
  return { parts };
}

const showsConsentHash = ({ parts }: ShownEntry) =>
  parts.some((part) => !isHidden(part) && readPart(part)?.name === 'metadata.consentHash');

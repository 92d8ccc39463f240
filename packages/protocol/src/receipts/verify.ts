import { encodeBase64url } from '../base64url.ts';
import { joinBytes } from '../bytes.ts';
import { canonicalJson } from '../canonical-json.ts';
import { findKey, keySetOf } from '../key-set.ts';
import { readStatement } from '../kind-verifier.ts';
import { checkLimits } from '../limits.ts';
import { digestOfLimits } from '../limits-report.ts';
import { rootAbove } from '../receipt-proof.ts';
import {
  decodeBase64,
  encodeBase64,
  type NoteKey,
  readCheckpointText,
  readNote,
  readVkey,
  verifyNote,
  WITNESS_KEY,
} from '../signed-note.ts';
import { readTokenParts } from '../token-parts.ts';
import { type ReceiptConsent, readConsent } from './consent.ts';
import type { ProofMeans } from './consent-proof.ts';
import { type ReadEntries, type ReceiptEntry, readEntries } from './entries.ts';
import { type KeySources, logKeysOf, signingKeysOf } from './log-keys.ts';
import { headOf, type Receipt, readReceipt } from './read.ts';
import { type ReceiptGrant, readTree } from './tree.ts';

/** What the holder of a receipt trusts, from elsewhere than the receipt. Each member may be absent. */
export interface ReceiptTrust extends KeySources {
  /** The DID document of the service. */
  readonly did?: unknown;
  /** The JWK Set of the service. */
  readonly jwks?: unknown;
  /** Keys of the log. */
  readonly vkeys?: readonly string[];
  /** Keys of witnesses. */
  readonly witnesses?: readonly string[];
  /** How many of these witnesses have to have signed. Default: 0. */
  readonly quorum?: number;
  /** The name of the log. Different developers have different logs of one service, all with the same key. */
  readonly origin?: string;
  /** The time for which `expired` is told. Without it no grant is called expired. */
  readonly now?: Date;
}

/** The checks, in their order. `no_grant_entry` and `proof` are parts of the checks of `tree` and `consent`. */
export type ReceiptCheckId =
  | 'malformed'
  | 'statement'
  | 'note'
  | 'witnesses'
  | 'inclusion'
  | 'entries'
  | 'tree'
  | 'no_grant_entry'
  | 'limits'
  | 'consent'
  | 'proof';

export interface ReceiptCheck {
  readonly id: ReceiptCheckId;
  readonly ok: boolean;
  /** `ok`, `absent`, `withheld` where something that the check needs is hidden, or what is wrong. */
  readonly detail: string;
}

/** What a receipt proves. */
export interface ReceiptVerdict {
  /** Whether the receipt agrees with itself and with what is trusted. */
  readonly ok: boolean;
  /** Whether the keys come from `trust`. Without it anybody may have made the receipt: never call that verified. */
  readonly anchored: boolean;
  /** The first check that failed. */
  readonly failed: ReceiptCheckId | null;
  readonly checks: readonly ReceiptCheck[];
  readonly grants: readonly ReceiptGrant[];
  readonly entries: readonly ReceiptEntry[];
  /** How many entries the holder took out. */
  readonly withheld: number;
  readonly consent: ReceiptConsent | null;
  readonly checkpoint: {
    readonly size: number;
    /** Names of keys of the log. */
    readonly signedBy: readonly string[];
    /** Names of trusted witnesses. */
    readonly cosignedBy: readonly string[];
  };
  /** What the service says of the receipt, and `unverified`, `withheld` and `narrowed`, which the check says of it. */
  readonly warnings: readonly string[];
  /** The receipt itself, for its names and keys. Null when it is malformed. */
  readonly receipt: Receipt | null;
}

/**
 * Checks a receipt with no network and no clock.
 *
 * @param file the text of the file, JSON or HTML, or the parsed JSON
 * @returns the verdict; the function does not throw for any file
 */
export async function verifyReceiptWith(
  file: unknown,
  trust: ReceiptTrust,
  means: ProofMeans,
): Promise<ReceiptVerdict> {
  try {
    return await verdictOn(file, trust, means);
  } catch {
    return refused('malformed', 'malformed'); // parts may hold any JSON, also values that become no text
  }
}

async function verdictOn(file: unknown, trust: ReceiptTrust, means: ProofMeans): Promise<ReceiptVerdict> {
  const receipt = readReceipt(file);
  if (!receipt) return refused('malformed', 'malformed');
  const read = readEntries(receipt, means.sha256);
  const checks: ReceiptCheck[] = [{ id: 'malformed', ok: true, detail: 'ok' }];

  const statement = await checkStatement(receipt, trust, means);
  checks.push({ id: 'statement', ok: statement.detail === 'ok', detail: statement.detail });
  const note = checkNote(receipt, trust, means);
  checks.push({ id: 'note', ok: note.ok, detail: note.detail });
  const quorum = trust.quorum ?? 0;
  const isQuorum = note.cosignedBy.length >= quorum;
  const witnesses = note.cosignedBy.length > 0 ? 'ok' : 'absent';
  checks.push({ id: 'witnesses', ok: isQuorum, detail: isQuorum ? witnesses : `quorum ${quorum}` });
  const isAnchored = statement.isAnchored && note.isAnchored;
  if ('faulty' in read) {
    checks.push({ id: 'inclusion', ok: false, detail: `entry ${read.faulty}` });
    return {
      ...refused('inclusion', ''),
      ...verdictOf(checks, isAnchored),
      checkpoint: headSeen(receipt, note),
      receipt,
    };
  }

  const root = rootAbove(
    read.leaves,
    { size: receipt.checkpoint.size, proof: receipt.proof.map(bytesOf) },
    means.sha256,
  );
  const isIncluded = root !== undefined && encodeBase64(root) === receipt.checkpoint.root;
  checks.push({ id: 'inclusion', ok: isIncluded, detail: isIncluded ? 'ok' : 'other_root' });
  const leaves = encodeBase64url(means.sha256(joinBytes(read.leaves.map(({ hash }) => hash))));
  const isComplete = statement.count === read.leaves.length && statement.leaves === leaves;
  checks.push({ id: 'entries', ok: isComplete, detail: isComplete ? 'ok' : 'not_as_stated' });

  const { withheld } = read;
  const tree = readTree(read.entries, { ...receipt, withheld, now: trust.now });
  pushFaults(checks, ['tree', 'no_grant_entry'], tree);
  const limits = limitsDetail(receipt, { ...read, stated: statement.limits }, means);
  checks.push({ id: 'limits', ok: ['ok', 'absent', 'withheld'].includes(limits), detail: limits });
  const isUnverified = tree.grants.some(({ unverified }) => unverified);
  const rootGrant = tree.grants.find(({ grantId }) => grantId === receipt.rootGrantId);
  const about = { entries: read.entries, root: rootGrant, isUnverified, withheld };
  const consent = await readConsent(receipt, about, means);
  pushFaults(checks, ['consent', 'proof'], consent);

  const isPartial =
    withheld > 0 || checks.some(({ detail }) => detail === 'withheld') || hasHidden(read.entries);
  const warnings = [
    ...receipt.warnings,
    ...(consent.consent.unverified ? ['unverified'] : []),
    ...(isPartial ? ['withheld'] : []),
    ...(statement.isNarrowed ? ['narrowed'] : []),
    ...(receipt.limits?.holds === false ? ['limits_exceeded'] : []),
  ];
  return {
    ...verdictOf(checks, isAnchored),
    ...{ grants: tree.grants, entries: read.entries, withheld, consent: consent.consent },
    ...{ checkpoint: headSeen(receipt, note), warnings: [...new Set(warnings)], receipt },
  };
}

/** Whether the limits are those of the statement, and what the entries add up to. */
function limitsDetail(
  { limits }: Receipt,
  { entries, withheld, stated }: Pick<ReadEntries, 'entries' | 'withheld'> & { readonly stated: unknown },
  { sha256 }: ProofMeans,
): string {
  if (limits === undefined) return stated === undefined ? 'absent' : 'withheld';
  if (digestOfLimits(limits, sha256) !== stated) return 'not_as_stated';
  const counted = checkLimits(entries, withheld);
  if (counted.unread > limits.unread) return 'withheld';
  return canonicalJson(counted) === canonicalJson(limits) ? 'ok' : 'not_as_counted';
}

const hasHidden = (entries: readonly ReceiptEntry[]) =>
  entries.some(({ hidden, principalId }) => hidden > 0 || principalId === undefined);

const bytesOf = (base64: string) => decodeBase64(base64) ?? new Uint8Array();

function verdictOf(checks: readonly ReceiptCheck[], isAnchored: boolean) {
  const failed = checks.find(({ ok }) => !ok)?.id ?? null;
  return { ok: failed === null, anchored: failed === null && isAnchored, failed, checks };
}

function refused(id: ReceiptCheckId, detail: string): ReceiptVerdict {
  return {
    ...verdictOf([{ id, ok: false, detail }], false),
    ...{ grants: [], entries: [], withheld: 0, consent: null, warnings: [], receipt: null },
    checkpoint: { size: 0, signedBy: [], cosignedBy: [] },
  };
}

interface Faults {
  readonly faults: readonly { readonly id: ReceiptCheckId; readonly detail: string }[];
  readonly isPartial: boolean;
}

/** One check for each id, with its first fault. */
function pushFaults(
  checks: ReceiptCheck[],
  ids: readonly ReceiptCheckId[],
  { faults, isPartial }: Faults,
): void {
  for (const id of ids) {
    const fault = faults.find((each) => each.id === id);
    if (fault) checks.push({ id, ok: false, detail: fault.detail });
    else checks.push({ id, ok: true, detail: isPartial ? 'withheld' : 'ok' });
  }
}

interface Statement {
  /** `ok`, or what is wrong. */
  readonly detail: string;
  readonly isAnchored: boolean;
  readonly count?: unknown;
  readonly leaves?: unknown;
  readonly limits?: unknown;
  /** The receipt is of a part of the time. */
  readonly isNarrowed?: boolean;
}

/** A time after every other: a statement does not end, and a reader's clock that is late must not refuse it. */
const NO_CLOCK = new Date(8_640_000_000_000_000);

async function checkStatement(receipt: Receipt, trust: ReceiptTrust, means: ProofMeans): Promise<Statement> {
  const parts = readTokenParts(receipt.statement, 'receipt');
  if (!parts.ok) return { detail: parts.reason, isAnchored: false };
  const trusted = keySetOf(signingKeysOf(trust));
  const isAnchored = isFound(findKey(parts.header, trusted));
  const keys = isAnchored ? trusted : keySetOf(signingKeysOf(receipt.keys));
  const { verifySignature } = means;
  const { issuer } = receipt;
  const read = await readStatement('receipt', receipt.statement, {
    keys: () => keys,
    verifySignature,
    issuer,
    now: NO_CLOCK,
  });
  if (!read.ok) return { detail: read.reason, isAnchored: false };

  const { count, leaves, limits, since, until, ...claims } = read.claims;
  const said = {
    origin: receipt.log.origin,
    grantId: receipt.grantId,
    rootGrantId: receipt.rootGrantId,
    size: receipt.checkpoint.size,
    root: receipt.checkpoint.root,
    head: headOf(receipt, means.sha256),
  };
  const other = Object.entries(said).find(([name, value]) => claims[name] !== value)?.[0];
  const isNarrowed = since !== undefined || until !== undefined;
  return {
    detail: other === undefined ? 'ok' : `other_${other}`,
    isAnchored,
    count,
    leaves,
    limits,
    isNarrowed,
  };
}

/** A key of another use or algorithm is known all the same, and refuses the statement. */
const isFound = (found: ReturnType<typeof findKey>) => found.ok || found.reason !== 'key_not_found';

interface NoteSeen {
  readonly ok: boolean;
  readonly detail: string;
  readonly isAnchored: boolean;
  readonly signedBy: readonly string[];
  readonly cosignedBy: readonly string[];
}

function checkNote(
  { checkpoint, log, keys }: Receipt,
  trust: ReceiptTrust,
  { sha256, verifyEd25519 }: ProofMeans,
): NoteSeen {
  const none = { isAnchored: false, signedBy: [], cosignedBy: [] };
  if (trust.origin !== undefined && trust.origin !== log.origin)
    return { ...none, ok: false, detail: 'other_origin' };
  if (checkpoint.note === null) return { ...none, ok: true, detail: 'absent', isAnchored: true };
  const note = readNote(checkpoint.note);
  const head = note && readCheckpointText(note.text);
  if (!head) return { ...none, ok: false, detail: 'malformed' };
  if (head.origin !== log.origin) return { ...none, ok: false, detail: 'other_origin' };
  if (head.size !== checkpoint.size) return { ...none, ok: false, detail: 'other_size' };
  if (encodeBase64(head.root) !== checkpoint.root) return { ...none, ok: false, detail: 'other_root' };

  const trusted = logKeysOf(trust, log.origin, sha256);
  const own = { did: keys.did, vkeys: log.vkey === null ? [] : [log.vkey] };
  const witnesses = witnessesOf(trust.witnesses ?? [], sha256);
  const others = [...logKeysOf(own, log.origin, sha256), ...witnessesOf(keys.witnesses, sha256)];
  const verified = verifyNote(note, [...trusted, ...witnesses, ...others], verifyEd25519);
  if (!verified.ok) return { ...none, ok: false, detail: verified.reason };
  const namesOf = (among: readonly NoteKey[]) => [
    ...new Set(verified.signatures.filter(({ key }) => among.includes(key)).map(({ key }) => key.name)),
  ];
  const signedBy = namesOf([...trusted, ...others.filter(({ type }) => type !== WITNESS_KEY)]);
  if (signedBy.length === 0) return { ...none, ok: false, detail: 'no_known_key' };
  const isAnchored = namesOf(trusted).length > 0;
  return { ok: true, detail: 'ok', isAnchored, signedBy, cosignedBy: namesOf(witnesses) };
}

const witnessesOf = (vkeys: readonly string[], sha256: ProofMeans['sha256']): NoteKey[] =>
  vkeys.map((vkey) => readVkey(vkey, sha256)).filter((key) => key?.type === WITNESS_KEY) as NoteKey[];

const headSeen = ({ checkpoint }: Receipt, { signedBy, cosignedBy }: NoteSeen) => ({
  ...{ size: checkpoint.size, signedBy, cosignedBy },
});

import type { AuditEntry } from '@behest/protocol/audit-chain';
import { kindOfStatement } from '@behest/protocol/kind-verifier';
import {
  type OffboardingFault,
  type OffboardingStatement,
  type OffboardingVerdict,
  readOffboardingStatement,
  verifyOffboardingStatement,
} from '@behest/protocol/offboarding-statement';
import type { ProofMeans } from '@behest/protocol/receipts/consent-proof';
import { type Receipt, readReceipt } from '@behest/protocol/receipts/read';
import { type Redaction, redactWith } from '@behest/protocol/receipts/redact';
import { type ReceiptTrust, type ReceiptVerdict, verifyReceiptWith } from '@behest/protocol/receipts/verify';
import { type CheckedRevocation, verifyRevocationStatement } from '@behest/protocol/revocation-statement';
import type { TokenRefusal } from '@behest/protocol/token-refusal';
import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { BehestError } from './errors.ts';
import { readKeys } from './verify/fetch-keys.ts';
import { verifySignature } from './verify/signatures.ts';

export type { ReceiptConsent } from '@behest/protocol/receipts/consent';
export type { ProofOutcome } from '@behest/protocol/receipts/consent-proof';
export type { ReceiptEntry } from '@behest/protocol/receipts/entries';
export type { Receipt } from '@behest/protocol/receipts/read';
export type { Redaction } from '@behest/protocol/receipts/redact';
export type { ReceiptGrant } from '@behest/protocol/receipts/tree';
export type {
  ReceiptCheck,
  ReceiptCheckId,
  ReceiptTrust,
  ReceiptVerdict,
} from '@behest/protocol/receipts/verify';
export type { CheckedRevocation } from '@behest/protocol/revocation-statement';

const means: ProofMeans = {
  sha256,
  verifySignature,
  verifyEd25519(publicKey, message, signature) {
    try {
      return ed25519.verify(signature, message, publicKey, { zip215: false });
    } catch {
      return false; // a key that is no point of the curve
    }
  },
};

/**
 * Checks a receipt of a grant, offline: in Node, browsers and Workers, with no network and no account.
 *
 * @param receipt the text of the file, JSON or HTML, or the parsed JSON
 * @param trust keys of the service that you had from elsewhere. Without them the receipt can only agree with itself.
 * @returns the verdict; the function does not throw for any file
 *
 * @example
 * ```ts
 * import { verifyReceipt } from '@behest/sdk/receipts';
 *
 * const { ok, anchored, failed } = await verifyReceipt(await readFile('receipt.json', 'utf8'), { did, jwks });
 * if (!ok) throw new Error(`The receipt was changed: ${failed}`);
 * if (!anchored) throw new Error('Anybody may have made this receipt.');
 * ```
 */
export const verifyReceipt = (receipt: unknown, trust: ReceiptTrust = {}): Promise<ReceiptVerdict> =>
  verifyReceiptWith(receipt, trust, means);

/**
 * Takes parts out of a receipt before it is passed on. What is left still verifies.
 *
 * @throws BehestError for a file that is no receipt, and for a part that is not there or has to stay
 */
export function redactReceipt(receipt: unknown, redaction: Redaction): Receipt {
  const read = readReceipt(receipt);
  if (!read) throw new BehestError('INVALID_ARGUMENT', 'This is no receipt.');
  try {
    return redactWith(read, redaction, sha256);
  } catch (error) {
    if (error instanceof RangeError) throw new BehestError('INVALID_ARGUMENT', error.message);
    throw error;
  }
}

export interface StatementOptions {
  /** The keys of the service as `GET /.well-known/jwks.json` answers them, kept or fetched. */
  readonly jwks: unknown;
  /** The issuer that the statement has to name. */
  readonly issuer: string;
  /** All audit entries of the account, the oldest first. The statement of an offboarding needs them. */
  readonly entries?: readonly AuditEntry[];
  /** Default: the time of this machine. */
  readonly now?: Date;
}

interface JudgedOffboarding extends OffboardingVerdict {
  readonly claims: OffboardingStatement;
}

/** The result for the statement of an offboarding: `reason` is what is wrong with it, or what the entries show. */
export type CheckedOffboarding =
  | ({ readonly ok: true } & JudgedOffboarding)
  | ({ readonly ok: false; readonly reason: OffboardingFault } & JudgedOffboarding)
  | { readonly ok: false; readonly reason: TokenRefusal | 'entries_missing' };

/** The result of `verifyStatement`. `kind` is what the statement says that it is, and null where it is none of these. */
export type StatementVerdict =
  | ({ readonly kind: 'revocation' } & CheckedRevocation)
  | ({ readonly kind: 'offboarding' } & CheckedOffboarding)
  | { readonly kind: null; readonly ok: false; readonly reason: 'malformed' };

/**
 * Checks a signed statement of the service offline. Of a revocation: that the service signed it, and that each verifier that it
 * calls `confirmed` signed that it had stopped. Of an offboarding: that the service signed it, and that the audit entries say
 * the same.
 *
 * @param statement the member `statement` of the answer to `grants.revoke(id, { wait: 'confirmed' })` or of an offboarding
 * @throws TypeError for keys that are no JWK Set
 *
 * @example
 * ```ts
 * const checked = await verifyStatement(statement, { jwks, issuer: 'https://auth.example.com' });
 * if (!checked.ok) throw new Error(checked.reason);
 * if (checked.kind !== 'revocation') throw new Error('This is another statement.');
 * for (const { name, state, at } of checked.claims.verifiers) console.log(name, state, at);
 * ```
 */
export async function verifyStatement(
  statement: string,
  { jwks, issuer, entries, now = new Date() }: StatementOptions,
): Promise<StatementVerdict> {
  const keys = readKeys(JSON.stringify(jwks));
  const setup = { keys: () => keys, verifySignature, issuer, now };
  const kind = kindOfStatement(statement);
  if (kind === 'revocation-statement') {
    return { kind: 'revocation', ...(await verifyRevocationStatement(statement, setup)) };
  }
  if (kind !== 'offboarding-statement') return { kind: null, ok: false, reason: 'malformed' };
  const read = await readOffboardingStatement(statement, setup);
  if (!read.ok) return { kind: 'offboarding', ...read };
  if (!entries) return { kind: 'offboarding', ok: false, reason: 'entries_missing' };
  const hexOf = (text: string) => bytesToHex(sha256(utf8ToBytes(text)));
  const verdict = verifyOffboardingStatement(read.statement, entries, hexOf);
  const judged = { kind: 'offboarding', claims: read.statement, ...verdict } as const;
  return verdict.fault === null ? { ...judged, ok: true } : { ...judged, ok: false, reason: verdict.fault };
}

import type { ProofMeans } from '@behest/protocol/receipts/consent-proof';
import { type Receipt, readReceipt } from '@behest/protocol/receipts/read';
import { type Redaction, redactWith } from '@behest/protocol/receipts/redact';
import { type ReceiptTrust, type ReceiptVerdict, verifyReceiptWith } from '@behest/protocol/receipts/verify';
import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { BehestError } from './errors.ts';
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
export {
  type CheckedStatement,
  type StatementOptions,
  verifyRevocationStatement,
} from './verify/statement.ts';

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

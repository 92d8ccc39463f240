import { hash, randomBytes } from 'node:crypto';
import { commitmentTo, partOf } from '@behest/protocol/audit-parts';
import type { Authentication } from '@behest/protocol/authentication';
import type { Tx } from '../../../platform/db/db.ts';
import { thumbprintsOf } from '../../accounts/developers/index.ts';
import { type ConsentRow, insertRecord } from './consent.repo.ts';
import { type Proofs, validHint } from './consent.rules.ts';
import type { ConsentVerification } from './consent.schema.ts';

/** What a person was shown, what they decided, and how they proved who they are. */
interface Consent {
  readonly shown: object;
  readonly principalId: string;
  readonly decision: object;
  readonly proof: object;
}

/**
 * Keeps the consent of an approval as salted parts, in the approval's transaction. A receipt shows them, and its reader
 * compares them with the hash in the entry.
 */
export async function keepConsent(
  tx: Tx,
  { id: authRequestId, developerId }: Pick<ConsentRow, 'id' | 'developerId'>,
  { shown, principalId, decision, proof }: Consent,
  at: Date,
): Promise<{ consentHash: string }> {
  const members = {
    'consent/1': shown,
    principalId,
    decision: { ...decision, decidedAt: at.toISOString() },
    proof,
  };
  const parts = Object.entries(members).map(([name, value]) => partOf(randomBytes(16), name, value));
  await insertRecord(tx, { developerId }, { authRequestId, parts, createdAt: at });
  return { consentHash: commitmentTo(parts, (bytes) => hash('sha256', bytes, 'buffer')) };
}

interface Proved {
  readonly row: ConsentRow;
  readonly mode: ConsentVerification['mode'];
  readonly proofs: Proofs;
  readonly authentication: Authentication | undefined;
}

/**
 * The proof of an approval without a passkey. Only a developer's hint can be checked by others: the rest is the word of the
 * service.
 */
export function proofOf({ row, mode, proofs, authentication }: Proved, at: Date): object {
  const keys = thumbprintsOf(row.consentKeys);
  const hint = validHint(proofs, keys);
  const time = { mode, at: at.toISOString() };
  if (mode === 'sandbox') return { ...time, page: true };
  if (mode === 'sso') return { mode, at: (authentication?.at ?? at).toISOString() };
  if (mode === 'email') return { mode, at: proofs.mailReadAt, address: masked(hint?.email ?? '') };
  if (mode !== 'developer' || !hint) return time;
  const key = Object(row.consentKeys)[keys.indexOf(hint.keyThumbprint)];
  return { mode, at: hint.at, hint: hint.jwt ?? null, key };
}

/** The first character of a mailbox, and its host. */
const masked = (address: string) => address.replace(/^(.)[^@]*/u, '$1…');

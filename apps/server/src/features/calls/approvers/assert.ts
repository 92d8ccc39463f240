import { hash } from 'node:crypto';
import { canonicalJson } from '@behest/protocol/canonical-json';
import type { Assertion } from '@behest/protocol/passkey-shapes';
import type { Caller } from '../../../platform/caller.ts';
import { inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { newId, newSalt } from '../../../platform/ids.ts';
import {
  challengeInvalid,
  checkAssertion,
  passkeyFailed,
  publicJwk,
  requestOptions,
} from '../../people/passkeys/index.ts';
import type { ApproverRow } from './approvers.repo.ts';
import { CHALLENGE_MS } from './approvers.rules.ts';
import { type ApproverDeps, approverParty } from './deps.ts';
import {
  type ApproverPasskeyRow,
  advanceApproverCounter,
  claimApproverChallenge,
  findApproverChallenge,
  insertApproverChallenge,
  listApproverPasskeys,
} from './keys.repo.ts';
import { subOf } from './show.ts';
import { cloneSuspected } from './sign-in.ts';

/** The call that an approver signs. */
interface SignedCall {
  readonly decisionId: string;
  readonly actionHash: string;
  readonly nonce: string;
}

/** The text whose hash the authenticator signs: this call, for this request, by this person, once. */
const challengeText = ({ decisionId, actionHash, nonce }: SignedCall, row: ApproverRow, serial: string) =>
  canonicalJson({
    ...{ v: 1, use: 'behest.decision', decision_id: decisionId, action_hash: actionHash },
    ...{ nonce, approver: subOf(row), serial },
  });

/** Asks for the approver's passkey over a call. @throws FIDO_NOT_ENROLLED, CONFLICT */
export async function beginSigning(deps: ApproverDeps, row: ApproverRow, signed: SignedCall) {
  const at = deps.clock();
  const party = approverParty(deps);
  const allowed = await listApproverPasskeys(deps.db, row, row.id);
  if (allowed.length === 0) throw new AppError('FIDO_NOT_ENROLLED', 'Your passkey here was removed.');
  const serial = newSalt();
  const challenge = hash('sha256', challengeText(signed, row, serial), 'buffer');
  const challengeId = newId('wac', at);
  const expiresAt = new Date(at.getTime() + CHALLENGE_MS);
  const subjectId = signed.decisionId;
  const kept = { id: challengeId, approverId: row.id, subjectId, serial, challenge, expiresAt };
  await inTransaction(deps.db, (tx) => insertApproverChallenge(tx, row, kept, at));
  const publicKey = await requestOptions(party, { challenge, allowed });
  return { challengeId, nonce: serial, publicKey: { ...publicKey } };
}

/** A signature over a call that verified, and is not taken yet. */
export interface CheckedSigning {
  readonly passkey: ApproverPasskeyRow;
  readonly challengeId: string;
  readonly counter: number;
  readonly credential: string;
  /** Everything with which anybody can check later what was signed. */
  readonly evidence: object;
}

/**
 * Checks the signature over a call. An attempt that fails uses the challenge up, too.
 * @throws CHALLENGE_INVALID, BAD_REQUEST, WEBAUTHN_VERIFICATION_FAILED
 */
export async function checkSigning(
  deps: ApproverDeps,
  row: ApproverRow,
  signed: SignedCall,
  { challengeId, response }: Assertion,
): Promise<CheckedSigning> {
  const at = deps.clock();
  const party = approverParty(deps);
  const claim = { id: challengeId, approverId: row.id, subjectId: signed.decisionId };
  const found = await findApproverChallenge(deps.db, row, claim, at);
  if (!found) throw challengeInvalid();
  const text = challengeText(signed, row, found.serial);
  const credentialId = Buffer.from(response.id, 'base64url');
  const passkeys = await listApproverPasskeys(deps.db, row, row.id);
  const passkey = passkeys.find((one) => one.credentialId.equals(credentialId));
  try {
    if (!passkey) throw passkeyFailed('credential');
    const challenge = hash('sha256', text, 'buffer');
    const { counter, origin } = await checkAssertion({ party, challenge, response }, passkey);
    const { clientDataJSON, authenticatorData, signature } = response.response;
    const shown = { clientDataJSON, authenticatorData, signature };
    const publicKey = await publicJwk(passkey.publicKey);
    const evidence = { rpId: party.id, origin, publicKey, ...shown, serial: found.serial };
    return { passkey, challengeId, counter, credential: hash('sha256', credentialId, 'base64url'), evidence };
  } catch (error) {
    await claimApproverChallenge(deps.aside, row, challengeId, at);
    throw error;
  }
}

/** Takes a signature that verified, in the transaction of the approval. @throws CHALLENGE_INVALID, WEBAUTHN_CLONE_SUSPECTED */
export async function takeSigning(
  deps: ApproverDeps,
  tx: Tx,
  { tenant, requestId }: Caller,
  { passkey, challengeId, counter }: CheckedSigning,
): Promise<void> {
  const at = deps.clock();
  if (!(await claimApproverChallenge(tx, tenant, challengeId, at))) throw challengeInvalid();
  if (await advanceApproverCounter(tx, tenant, { id: passkey.id, counter }, at)) return;
  throw await cloneSuspected(deps, passkey, requestId);
}

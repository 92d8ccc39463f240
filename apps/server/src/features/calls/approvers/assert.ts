import { hash } from 'node:crypto';
import { canonicalJson } from '@behest/protocol/canonical-json';
import type { Assertion } from '@behest/protocol/passkey-shapes';
import type { Caller } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';
import {
  advanceCounter,
  beginProof,
  checkProof,
  getChallenge,
  takeChallenge,
  verifyingParty,
} from '../../people/passkeys/index.ts';
import type { ApproverRow } from './approvers.repo.ts';
import { approverOwner } from './approvers.rules.ts';
import type { ApproverDeps } from './deps.ts';
import { subOf } from './manage.ts';
import { cloneSuspected } from './sign-in.ts';

/** The call that an approver signs. */
interface SignedCall {
  readonly decisionId: string;
  readonly actionHash: string;
  readonly nonce: string;
}

/** The hash that the authenticator signs: of this call, for this request, by this person, once. */
function challengeOf(
  { decisionId, actionHash, nonce }: SignedCall,
  row: ApproverRow,
  serial: string,
): Buffer {
  const text = canonicalJson({
    ...{ v: 1, use: 'behest.decision', decision_id: decisionId, action_hash: actionHash },
    ...{ nonce, approver: subOf(row), serial },
  });
  return hash('sha256', text, 'buffer');
}

/** Asks for the approver's passkey over a call. @throws FIDO_NOT_ENROLLED, CONFLICT */
export const beginSigning = (deps: ApproverDeps, row: ApproverRow, signed: SignedCall) =>
  beginProof(deps, row, verifyingParty(deps), {
    ...{
      owner: approverOwner(row.id),
      use: 'decide',
      subjectId: signed.decisionId,
      digest: null,
      signed: {},
    },
    challengeOf: (serial) => challengeOf(signed, row, serial),
    missing: 'Your passkey here was removed.',
  });

/** A signature over a call that verified, and is not taken yet. */
export interface CheckedSigning {
  readonly shown: Awaited<ReturnType<typeof checkProof>>;
  readonly challengeId: string;
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
  const party = verifyingParty(deps);
  const claim = {
    ...approverOwner(row.id),
    id: challengeId,
    use: 'decide',
    subjectId: signed.decisionId,
  } as const;
  const found = await getChallenge(deps, row, claim);
  const serial: string = Object(found.signed).nonce;
  const asked = { ...found, challenge: challengeOf(signed, row, serial) };
  const shown = await checkProof(deps, row, { party, asked, response, status: 'active' });
  const credential = hash('sha256', shown.passkey.credentialId, 'base64url');
  return { shown, challengeId, credential, evidence: { ...shown.proof, serial } };
}

/** Takes a signature that verified, in the transaction of the approval. @throws CHALLENGE_INVALID, WEBAUTHN_CLONE_SUSPECTED */
export async function takeSigning(
  deps: ApproverDeps,
  tx: Tx,
  { tenant, requestId }: Caller,
  { shown, challengeId }: CheckedSigning,
): Promise<void> {
  const at = deps.clock();
  await takeChallenge(tx, tenant, challengeId, at);
  if (await advanceCounter(tx, shown.passkey, shown, at)) return;
  throw await cloneSuspected(deps, shown.passkey, requestId);
}

import type { Assertion, AssertionOptions } from '@behest/protocol/passkey-shapes';
import type { Act } from '../../../platform/acts.ts';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import { inTransaction, type Tx } from '../../../platform/db/db.ts';
import type { AppError } from '../../../platform/errors.ts';
import { recordActs } from '../../record/audit/index.ts';
import {
  beginProof,
  checkProof,
  getChallenge,
  getRelyingParty,
  markSuspect,
  type PasskeyDeps,
  takeChallenge,
} from './ceremony.ts';
import { insertEvidence, keepAssertion } from './challenges.repo.ts';
import { advanceCounter, findByCredential, type PasskeyRow } from './passkeys.repo.ts';
import {
  authenticatorOf,
  challengeOf,
  digestOf,
  type ProofSubject,
  principalOwner,
} from './passkeys.rules.ts';
import { failed } from './webauthn.ts';

/**
 * Asks for a passkey of a person over what they see.
 * @param signed everything that the person sees and chooses: its hash is in the challenge
 * @throws CONFLICT, FIDO_NOT_ENROLLED
 */
export async function beginAssertion(
  deps: PasskeyDeps,
  tenant: Tenant,
  subject: ProofSubject,
  signed: object,
): Promise<AssertionOptions> {
  const digest = digestOf(signed);
  const { use, subjectId, principalId } = subject;
  return beginProof(deps, tenant, getRelyingParty(deps), {
    ...{ owner: principalOwner(principalId), use, subjectId, digest, signed },
    challengeOf: (nonce) => challengeOf(subject, digest, nonce),
    missing: 'This person has no passkey. Register one first.',
  });
}

/** A proof that a passkey gave: its time, and what it is about. */
interface PasskeyProof {
  /** When the service took it, in ISO 8601. */
  readonly at: string;
  readonly challengeId: string;
  /** The hash of everything that the person saw and chose. */
  readonly digest: string;
  /** In the words of RFC 8176. */
  readonly methods: readonly string[];
}

/**
 * Takes the answer of an authenticator. An attempt that fails uses the challenge up, too.
 * @throws CHALLENGE_INVALID, BAD_REQUEST, WEBAUTHN_VERIFICATION_FAILED, WEBAUTHN_CLONE_SUSPECTED
 */
export async function finishAssertion(
  deps: PasskeyDeps,
  caller: Caller,
  subject: ProofSubject,
  { challengeId, response }: Assertion,
): Promise<PasskeyProof> {
  const at = deps.clock();
  const party = getRelyingParty(deps);
  const { tenant } = caller;
  const { use, subjectId, principalId } = subject;
  const claim = { ...principalOwner(principalId), id: challengeId, use, subjectId };
  const asked = await getChallenge(deps, tenant, claim);
  const shown = await checkProof(deps, tenant, { party, asked, response });
  const { passkey } = shown;
  const { nonce, ...kept } = Object(asked.signed);
  const proof = { mode: 'passkey', ...shown.proof, credentialId: response.id, nonce };

  const isAdvanced = await inTransaction(deps.db, async (tx) => {
    await takeChallenge(tx, tenant, challengeId, at);
    if (!(await advanceCounter(tx, passkey, shown, at))) return false;
    const signed = { ...kept, proof };
    await keepAssertion(tx, tenant, { id: challengeId, passkeyId: passkey.id, signed });
    await recordActs(tx, caller, [asserted(passkey, subject)], at);
    return true;
  });
  if (!isAdvanced) throw await suspect(deps, caller, passkey, at);
  const methods = shown.userVerified ? VERIFIED : PRESENT;
  return { at: at.toISOString(), challengeId, digest: asked.digest ?? '', methods };
}

/** A key that the person holds, at which they were present; with their own PIN or body it is two factors (RFC 8176). */
const PRESENT = ['pop', 'user'];
const VERIFIED = [...PRESENT, 'mfa'];

/**
 * Stores an assertion as the evidence of the approval that it signed, in the transaction of the approval.
 * @returns the proof, with which anybody can check it; undefined when the passkey is gone or suspect
 */
export const keepEvidence = (
  tx: Tx,
  { tenant }: Pick<Caller, 'tenant'>,
  proven: { readonly challengeId: string; readonly requestId: string },
): Promise<object | undefined> => insertEvidence(tx, tenant, proven);

/** The act of a passkey that was shown for a request or a connect session. */
export function asserted(
  { id: credentialId }: PasskeyRow,
  { use, subjectId, principalId }: ProofSubject,
): Act {
  const about = use === 'consent' ? { authRequestId: subjectId } : { connectSessionId: subjectId };
  return { type: 'fido.assertion', principalId, data: { credentialId, ...about } };
}

/** Marks a passkey whose counter went back, once, unless it was removed meanwhile. @returns the refusal */
export async function suspect(
  { aside }: PasskeyDeps,
  caller: Caller,
  passkey: PasskeyRow,
  at: Date,
): Promise<AppError> {
  const { ownerId: principalId, credentialId } = passkey;
  if (!(await findByCredential(aside, caller.tenant, passkey, credentialId))) return failed('credential');
  const act: Act = { type: 'fido.clone_suspected', principalId, data: authenticatorOf(passkey) };
  const record = async (tx: Tx) => void (await recordActs(tx, caller, [act], at));
  return markSuspect({ aside }, passkey, record, 'Use another passkey, and remove this one.');
}

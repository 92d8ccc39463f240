import type { Assertion, AssertionOptions } from '@behest/protocol/passkey-shapes';
import type { Act } from '../../../platform/acts.ts';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import { inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { newId, newSalt } from '../../../platform/ids.ts';
import { recordActs } from '../../record/audit/index.ts';
import { checkAssertion, failed, publicJwk, requestOptions } from './ceremony.ts';
import { getRelyingParty, type PasskeyDeps } from './deps.ts';
import {
  advanceCounter,
  type ChallengeRow,
  claimChallenge,
  findByCredential,
  findChallenge,
  insertChallenge,
  insertEvidence,
  keepAssertion,
  listAllOf,
  lockUser,
  type PasskeyRow,
  updatePasskey,
} from './passkeys.repo.ts';
import { authenticatorOf, CHALLENGE_MS, challengeOf, digestOf, type ProofSubject } from './passkeys.rules.ts';
import { challengeInvalid } from './register.ts';

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
  const at = deps.clock();
  const party = getRelyingParty(deps);
  const { use, subjectId, principalId } = subject;
  const allowed = await listAllOf(deps.db, tenant, principalId, 'active');
  if (allowed.length === 0) {
    throw new AppError('FIDO_NOT_ENROLLED', 'This person has no passkey. Register one first.');
  }
  const nonce = newSalt();
  const digest = digestOf(signed);
  const challenge = challengeOf(subject, digest, nonce);
  const id = newId('wac', at);
  const expiresAt = new Date(at.getTime() + CHALLENGE_MS);
  const row = { id, principalId, use, subjectId, challenge, digest, expiresAt };
  await inTransaction(deps.db, async (tx) => {
    await lockUser(tx, tenant, principalId);
    await insertChallenge(tx, tenant, { ...row, signed: JSON.stringify({ ...signed, nonce }) }, at);
  });
  const publicKey = await requestOptions(party, { challenge, allowed });
  return { challengeId: id, nonce, publicKey: { ...publicKey } };
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
  const found = await findChallenge(deps.db, tenant, { ...subject, id: challengeId }, at);
  if (!found) throw challengeInvalid();
  const credentialId = Buffer.from(response.id, 'base64url');
  const passkey = await findByCredential(deps.db, tenant, subject.principalId, credentialId);
  const { challenge } = found;
  const shown = await check({ party, challenge, response }, passkey).catch(async (error: unknown) => {
    await claimChallenge(deps.aside, tenant, challengeId, at);
    throw error;
  });
  const { id, publicKey } = shown.passkey;
  const { counter, backedUp, origin } = shown;
  const proof = { rpId: party.id, origin, publicKey: await publicJwk(publicKey), response };

  const isAdvanced = await inTransaction(deps.db, async (tx) => {
    if (!(await claimChallenge(tx, tenant, challengeId, at))) throw challengeInvalid();
    if (!(await advanceCounter(tx, tenant, { id, counter, backedUp }, at))) return false;
    const signed = withProof(found, proof);
    await keepAssertion(tx, tenant, { id: challengeId, passkeyId: id, signed });
    await recordActs(tx, caller, [asserted(shown.passkey, subject)], at);
    return true;
  });
  if (!isAdvanced) throw await suspect(deps, caller, shown.passkey, at);
  const methods = shown.userVerified ? VERIFIED : PRESENT;
  return { at: at.toISOString(), challengeId, digest: found.digest ?? '', methods };
}

/** A key that the person holds, at which they were present; with their own PIN or body it is two factors (RFC 8176). */
const PRESENT = ['pop', 'user'];
const VERIFIED = [...PRESENT, 'mfa'];

async function check(taken: Parameters<typeof checkAssertion>[0], passkey: PasskeyRow | undefined) {
  if (!passkey) throw failed('credential');
  return { ...(await checkAssertion(taken, passkey)), passkey };
}

/**
 * Stores an assertion as the evidence of the approval that it signed, in the transaction of the approval.
 * @returns whether the passkey is still there and not suspect
 */
export const keepEvidence = (
  tx: Tx,
  { tenant }: Pick<Caller, 'tenant'>,
  proven: { readonly challengeId: string; readonly requestId: string },
): Promise<boolean> => insertEvidence(tx, tenant, proven);

/** The act of a passkey that was shown for a request or a connect session. */
export function asserted(
  { id: credentialId }: PasskeyRow,
  { use, subjectId, principalId }: ProofSubject,
): Act {
  const about = use === 'consent' ? { authRequestId: subjectId } : { connectSessionId: subjectId };
  return { type: 'fido.assertion', principalId, data: { credentialId, ...about } };
}

interface Proof {
  readonly rpId: string;
  readonly origin: string;
  readonly publicKey: Readonly<Record<string, unknown>>;
  readonly response: Assertion['response'];
}

/** Everything with which anybody can check later what was signed. */
function withProof({ signed: kept }: ChallengeRow, { rpId, origin, publicKey, response }: Proof): object {
  const { nonce, ...signed } = Object(kept);
  const { clientDataJSON, authenticatorData, signature } = response.response;
  const { id: credentialId } = response;
  const proof = { rpId, origin, credentialId, publicKey, clientDataJSON, authenticatorData, signature };
  return { ...signed, proof: { mode: 'passkey', ...proof, nonce } };
}

/** Marks a passkey whose counter went back, once, unless it was removed meanwhile. @returns the refusal */
export async function suspect(
  { aside }: PasskeyDeps,
  caller: Caller,
  passkey: PasskeyRow,
  at: Date,
): Promise<AppError> {
  const { id, principalId, credentialId } = passkey;
  if (!(await findByCredential(aside, caller.tenant, principalId, credentialId))) return failed('credential');
  const act: Act = { type: 'fido.clone_suspected', principalId, data: authenticatorOf(passkey) };
  await inTransaction(aside, async (tx) => {
    if (await updatePasskey(tx, caller.tenant, id, { status: 'suspect' }, 'active')) {
      await recordActs(tx, caller, [act], at);
    }
  });
  return new AppError(
    'WEBAUTHN_CLONE_SUSPECTED',
    'There may be a copy of this passkey. Use another passkey, and remove this one.',
  );
}

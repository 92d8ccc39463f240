import { randomBytes } from 'node:crypto';
import type { AssertionOptions, AssertionResponse } from '@behest/protocol/passkey-shapes';
import type { Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { newId, newSalt } from '../../../platform/ids.ts';
import {
  type ChallengeRow,
  type Claim,
  claimChallenge,
  findChallenge,
  insertChallenge,
} from './challenges.repo.ts';
import {
  findByCredential,
  insertPasskey,
  listPasskeysOf,
  lockUser,
  type PasskeyRow,
  updatePasskey,
} from './passkeys.repo.ts';
import { CHALLENGE_MS, type PasskeyOwner } from './passkeys.rules.ts';
import type { RelyingParty } from './passkeys.settings.ts';
import {
  type CreationUser,
  checkAssertion,
  type checkRegistration,
  creationOptions,
  failed,
  publicJwk,
  requestOptions,
} from './webauthn.ts';

export interface PasskeyDeps {
  readonly db: Executor;
  /** For writes that stand although the request is refused: a used challenge, a suspicion, a failed attempt. */
  readonly aside: Executor;
  readonly clock: Clock;
  /** Undefined where the address of the service serves no passkeys. */
  readonly relyingParty: RelyingParty | undefined;
}

/** As `getRelyingParty`, for ceremonies in which the authenticator has to verify the person in any case. @throws CONFLICT */
export const verifyingParty = (deps: Pick<PasskeyDeps, 'relyingParty'>) =>
  ({ ...getRelyingParty(deps), userVerification: 'required' }) as const;

/** @throws CONFLICT */
export function getRelyingParty({ relyingParty }: Pick<PasskeyDeps, 'relyingParty'>): RelyingParty {
  if (relyingParty) return relyingParty;
  const message =
    'Browsers make no passkeys for the address of this service: an IP address, or one without https. The operator sets PUBLIC_BASE_URL to an https host name, or FIDO_RP_ID and FIDO_ORIGIN.';
  throw new AppError('CONFLICT', message, { setting: 'FIDO_RP_ID' });
}

interface Creation extends CreationUser {
  readonly owner: PasskeyOwner;
  readonly use: 'register' | 'enrol';
}

/** Begins to make a passkey of a person. The caller has checked that they may have one. */
export async function beginCreation(
  tx: Tx,
  tenant: Tenant,
  party: RelyingParty,
  { owner, use, ...user }: Creation,
  at: Date,
) {
  const challenge = randomBytes(32);
  const id = newId('wac', at);
  const userHandle = await lockUser(tx, tenant, owner);
  await insertChallenge(tx, tenant, { ...owner, id, use, challenge, expiresAt: endOf(at) }, at);
  const publicKey = await creationOptions(party, { ...user, challenge, userHandle });
  return { challengeId: id, publicKey: { ...publicKey } };
}

const endOf = (at: Date) => new Date(at.getTime() + CHALLENGE_MS);

interface NewPasskey {
  readonly made: Awaited<ReturnType<typeof checkRegistration>>;
  readonly deviceName: string | null;
  readonly lastUsedAt: Date | null;
}

/** Stores a passkey that was checked. The caller has taken its challenge. @throws CONFLICT */
export async function storePasskey(
  tx: Tx,
  tenant: Tenant,
  { ownerKind, ownerId }: PasskeyOwner,
  { made, ...known }: NewPasskey,
  at: Date,
): Promise<PasskeyRow> {
  const row = await insertPasskey(tx, tenant, {
    ...{ ...made, ...known, ownerKind, ownerId },
    ...{ id: newId('cred', at), status: 'active', createdAt: at },
  });
  if (!row) throw new AppError('CONFLICT', 'This passkey is registered already.', { field: 'response' });
  return row;
}

interface Question {
  readonly owner: PasskeyOwner;
  readonly use: 'consent' | 'connect' | 'decide';
  readonly subjectId: string;
  readonly digest: string | null;
  /** What the row of the challenge has of the subject, besides the nonce. */
  readonly signed: object;
  /** @param nonce random characters, which make each challenge another one */
  readonly challengeOf: (nonce: string) => Buffer;
  /** The refusal of a person without a passkey. */
  readonly missing: string;
}

/** Asks for a passkey of a person over a subject. @throws FIDO_NOT_ENROLLED */
export async function beginProof(
  { db, clock }: Pick<PasskeyDeps, 'db' | 'clock'>,
  tenant: Tenant,
  party: RelyingParty,
  { owner, use, subjectId, digest, signed, challengeOf, missing }: Question,
): Promise<AssertionOptions> {
  const at = clock();
  const allowed = await listPasskeysOf(db, tenant, owner, 'active');
  if (allowed.length === 0) throw new AppError('FIDO_NOT_ENROLLED', missing);
  const nonce = newSalt();
  const challenge = challengeOf(nonce);
  const id = newId('wac', at);
  const row = { ...owner, id, use, subjectId, challenge, digest, expiresAt: endOf(at) };
  await inTransaction(db, async (tx) => {
    await lockUser(tx, tenant, owner);
    await insertChallenge(tx, tenant, { ...row, signed: JSON.stringify({ ...signed, nonce }) }, at);
  });
  const publicKey = await requestOptions(party, { challenge, allowed });
  return { challengeId: id, nonce, publicKey: { ...publicKey } };
}

interface Answer {
  readonly party: RelyingParty;
  readonly asked: ChallengeRow;
  readonly response: AssertionResponse;
  /** The status that the passkey has to have. */
  readonly status?: 'active';
}

/**
 * Checks the answer to an open challenge, by a passkey of the challenge's owner. A refusal uses the challenge up.
 * @returns also everything with which anybody can check later what was signed
 * @throws BAD_REQUEST, WEBAUTHN_VERIFICATION_FAILED
 */
export async function checkProof(deps: PasskeyDeps, tenant: Tenant, answer: Answer) {
  const { party, asked, response, status } = answer;
  const check = async () => {
    const credentialId = Buffer.from(response.id, 'base64url');
    const passkey = await findByCredential(deps.db, tenant, asked, credentialId, status);
    if (!passkey) throw failed('credential');
    const { challenge } = asked;
    const { origin, ...checked } = await checkAssertion({ party, challenge, response }, passkey);
    const publicKey = await publicJwk(passkey.publicKey);
    const { clientDataJSON, authenticatorData, signature } = response.response;
    const signed = { clientDataJSON, authenticatorData, signature };
    return { ...checked, passkey, proof: { rpId: party.id, origin, publicKey, ...signed } };
  };
  return check().catch(useUp(deps, tenant, asked.id));
}

/** An open challenge, for a look at the answer before it is taken. @throws CHALLENGE_INVALID */
export async function getChallenge(
  { db, clock }: Pick<PasskeyDeps, 'db' | 'clock'>,
  tenant: Tenant,
  claim: Claim,
): Promise<ChallengeRow> {
  const found = await findChallenge(db, tenant, claim, clock());
  if (!found) throw challengeInvalid();
  return found;
}

/** Takes a challenge, in the transaction of what it proves. @throws CHALLENGE_INVALID */
export async function takeChallenge(tx: Tx, tenant: Tenant, id: string, at: Date): Promise<void> {
  if (!(await claimChallenge(tx, tenant, id, at))) throw challengeInvalid();
}

/**
 * Makes the handler that uses a challenge up after its attempt was refused and rolled back. A lost race is no refusal:
 * the request begins again.
 * @param report runs once for a challenge
 */
export const useUp =
  (
    { aside, clock }: Pick<PasskeyDeps, 'aside' | 'clock'>,
    tenant: Tenant,
    challengeId: string,
    report?: (refusal: AppError) => Promise<void>,
  ) =>
  async (error: unknown): Promise<never> => {
    const isRefused = error instanceof AppError;
    if (isRefused && (await claimChallenge(aside, tenant, challengeId, clock()))) await report?.(error);
    throw error;
  };

export const challengeInvalid = () =>
  new AppError('CHALLENGE_INVALID', 'This challenge is unknown, used or expired. Begin again.');

/**
 * Marks a passkey whose counter went back, once, whatever becomes of the request.
 * @param record writes the entry of it
 * @param advice to the person
 * @returns the refusal
 */
export async function markSuspect(
  { aside }: Pick<PasskeyDeps, 'aside'>,
  passkey: PasskeyRow,
  record: (tx: Tx) => Promise<void>,
  advice: string,
): Promise<AppError> {
  await inTransaction(aside, async (tx) => {
    if (await updatePasskey(tx, passkey, passkey, { status: 'suspect' }, 'active')) await record(tx);
  });
  return new AppError('WEBAUTHN_CLONE_SUSPECTED', `There may be a copy of this passkey. ${advice}`);
}

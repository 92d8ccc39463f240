import { createKindVerifier, type OtherKind } from '@behest/protocol/kind-verifier';
import { readTokenParts } from '@behest/protocol/token-parts';
import type { TokenRefusal } from '@behest/protocol/token-refusal';
import { verifySignature } from '../../service/keys/index.ts';
import type { CredentialDeps } from './sign.ts';
import { findPlacedAcrossTenants, findStatusAcrossTenants } from './verifiable-credentials.repo.ts';
import {
  issuerDid,
  PASSPORT_CREDENTIAL,
  type Place,
  placeOf,
  readCredential,
} from './verifiable-credentials.rules.ts';
import type { CredentialVerification, VerifyCode } from './verifiable-credentials.schema.ts';

/** The refusals of both formats. */
const CODES: Readonly<Partial<Record<TokenRefusal, VerifyCode>>> = {
  typ_not_allowed: 'typ_not_allowed',
  alg_not_allowed: 'bad_signature',
  key_not_found: 'bad_signature',
  key_inconsistent: 'bad_signature',
  bad_signature: 'bad_signature',
  issuer_mismatch: 'issuer_unknown',
  expired: 'expired',
  not_yet_valid: 'not_yet_valid',
};

export const SENTENCES: Readonly<Record<VerifyCode, string>> = {
  malformed: 'This is no credential that the service writes.',
  typ_not_allowed: 'The token is of another kind.',
  issuer_unknown: 'Another party issued this credential.',
  bad_signature: 'The signature is not good.',
  not_yet_valid: 'The credential is not valid yet.',
  expired: 'The credential has expired.',
  revoked: 'The credential was revoked.',
  suspended: 'The agent is suspended, or the account of its developer is stopped.',
  status_unavailable: 'The status of the credential cannot be read.',
};

/** A token of the service, as far as its signature and its times tell. */
export interface Checked {
  /** Present when the signature is good. */
  readonly payload?: Readonly<Record<string, unknown>>;
  readonly code?: VerifyCode;
}

type CheckerDeps = Pick<CredentialDeps, 'keyRing' | 'clock' | 'issuer'>;

/** Makes a function that checks signature, issuer and times of one kind of credential. */
export function credentialChecker({ keyRing, clock, issuer }: CheckerDeps, kind: OtherKind) {
  const keys = () => keyRing.verificationKeys();
  const verify = createKindVerifier(kind, { keys, issuer, verifySignature });
  return (token: string, expectedIssuer: string): Checked => {
    const verified = verify(token, { now: clock(), issuer: expectedIssuer });
    if (verified.ok) return { payload: verified.payload };
    const code = CODES[verified.reason] ?? 'malformed';
    if (code !== 'expired' && code !== 'not_yet_valid') return { code };
    const parts = readTokenParts(token, kind); // times are looked at after the signature
    return parts.ok ? { payload: parts.payload, code } : { code };
  };
}

export interface Status {
  readonly developerId: string;
  /** Why the credential at a place is not good now. */
  readonly code?: 'revoked' | 'suspended';
}

/** The status of the credential at a place. Undefined when nothing can be read there. */
export async function statusAt(
  { db }: Pick<CredentialDeps, 'db'>,
  place: Place,
): Promise<Status | undefined> {
  const found = await findStatusAcrossTenants(db, place);
  if (!found) return undefined;
  const { developerId, isSet, standing } = found;
  if (isSet || standing === 'revoked') return { developerId, code: 'revoked' };
  return standing === 'active' ? { developerId } : { developerId, code: 'suspended' };
}

/** The stored credential that has the place of an unsigned one. */
export async function findPlaced(deps: CredentialDeps, credentialStatus: unknown) {
  const place = placeOf(deps, credentialStatus);
  return place && (await findPlacedAcrossTenants(deps.db, place));
}

/** Says of a credential whether it is genuine and good now. It always answers. */
export function credentialVerifier(deps: CredentialDeps) {
  const checkCredential = credentialChecker(deps, 'verifiable-credential');
  const checkPassport = credentialChecker(deps, 'agent-passport');
  const did = issuerDid(deps);
  return async (credential: string): Promise<CredentialVerification> => {
    const asCredential = checkCredential(credential, did);
    const isOther = asCredential.code === 'typ_not_allowed';
    const { payload, code } = isOther ? checkPassport(credential, did) : asCredential;
    if (!payload) return refusal(code ?? 'malformed');
    const read = readCredential(deps, payload);
    // A passport is signed as one, and nothing else is.
    if (!read || isOther !== (read.credentialType === PASSPORT_CREDENTIAL)) return refusal('malformed');
    const { credentialId, credentialType, subject, expiresAt, place } = read;
    const shown = { vcId: credentialId, credentialType, issuer: did, subject, expiresAt, payload };
    if (code) return { ...refusal(code), ...shown, ...(code === 'expired' && { expired: true }) };
    const status = await statusAt(deps, place);
    if (!status) return { ...refusal('status_unavailable'), ...shown };
    const { code: ended } = status;
    if (ended) return { ...refusal(ended), ...shown, ...(ended === 'revoked' && { revoked: true }) };
    return { valid: true, ...shown, revoked: false, expired: false };
  };
}

const refusal = (code: VerifyCode) => ({ valid: false, error: SENTENCES[code], code });

import { createKindVerifier, type OtherKind } from '@behest/protocol/kind-verifier';
import { readTokenParts } from '@behest/protocol/token-parts';
import type { TokenRefusal } from '@behest/protocol/token-refusal';
import { verifySignature } from '../../service/keys/index.ts';
import { findBitAcrossTenants } from './verifiable-credentials.repo.ts';
import { issuerDid, type Place, readCredential } from './verifiable-credentials.rules.ts';
import type { VerifiedCredential, VerifyCode } from './verifiable-credentials.schema.ts';
import type { CredentialDeps } from './verifiable-credentials.sign.service.ts';

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
  status_unavailable: 'The status of the credential cannot be read.',
};

/** A token of the service, as far as its signature and its times tell. */
export interface Checked {
  /** Present when the signature is good. */
  readonly payload?: Readonly<Record<string, unknown>>;
  readonly code?: VerifyCode;
}

/** Makes a function that checks signature, issuer and times of one kind of credential. */
export function credentialChecker({ keyRing, clock, issuer }: CredentialDeps, kind: OtherKind) {
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

/** Whether the place of a credential says that it was revoked. Undefined when nothing can be read there. */
export async function statusAt({ db }: Pick<CredentialDeps, 'db'>, place: Place) {
  return await findBitAcrossTenants(db, place);
}

/** Says of a credential whether it is genuine and good now. It always answers. */
export function credentialVerifier(deps: CredentialDeps) {
  const check = credentialChecker(deps, 'verifiable-credential');
  const did = issuerDid(deps);
  return async (credential: string): Promise<VerifiedCredential> => {
    const { payload, code } = check(credential, did);
    if (!payload) return refusal(code ?? 'malformed');
    const read = readCredential(deps, payload);
    if (!read) return refusal('malformed');
    const { credentialId, credentialType, subject, expiresAt, place } = read;
    const shown = { vcId: credentialId, credentialType, issuer: did, subject, expiresAt, payload };
    if (code) return { ...refusal(code), ...shown, ...(code === 'expired' && { expired: true }) };
    const status = await statusAt(deps, place);
    if (!status) return { ...refusal('status_unavailable'), ...shown };
    if (status.isSet) return { ...refusal('revoked'), ...shown, revoked: true };
    return { valid: true, ...shown, revoked: false, expired: false };
  };
}

const refusal = (code: VerifyCode) => ({ valid: false, error: SENTENCES[code], code });

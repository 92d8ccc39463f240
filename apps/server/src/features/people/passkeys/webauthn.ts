import type { AssertionResponse, RegistrationResponse } from '@behest/protocol/passkey-shapes';
import { AppError, badField } from '../../../platform/errors.ts';
import type { PasskeyRow } from './passkeys.repo.ts';
import { type CeremonyCheck, failedCheck, jwkOfCose, LONGEST_CREDENTIAL_ID } from './passkeys.rules.ts';
import type { RelyingParty } from './passkeys.settings.ts';

/** ES256, Ed25519 and RS256. @see https://www.iana.org/assignments/cose */
const ALGORITHMS = [-7, -8, -257];
const TIMEOUT_MS = 300_000;

/** Loaded with the first ceremony, because most processes see none for a long time. */
const library = () => import('@simplewebauthn/server');
const helpers = () => import('@simplewebauthn/server/helpers');

const bytes = (buffer: Uint8Array) => new Uint8Array(buffer);
/** A registered credential, as options name it. */
type Known = Pick<PasskeyRow, 'credentialId' | 'transports'>;
const known = ({ credentialId, transports }: Known) => ({
  id: credentialId.toString('base64url'),
  // The library's list of transports is closed. Those of coming authenticators pass through it unread.
  transports: transports as 'internal'[],
});

/** The person for whom an authenticator makes a passkey. */
export interface CreationUser {
  readonly userName: string;
  readonly displayName: string;
  readonly existing: readonly Known[];
  /** Whether the authenticator has to find the passkey by itself, without the name of the person. */
  readonly residentKey?: 'required';
}

interface NewOptions extends CreationUser {
  readonly challenge: Buffer;
  readonly userHandle: Buffer;
}

/** The options for `navigator.credentials.create`. @see https://www.w3.org/TR/webauthn-3/#sctn-registering-a-new-credential */
export async function creationOptions(party: RelyingParty, options: NewOptions) {
  const { generateRegistrationOptions } = await library();
  return generateRegistrationOptions({
    rpID: party.id,
    rpName: party.name,
    userID: bytes(options.userHandle),
    userName: options.userName,
    userDisplayName: options.displayName,
    challenge: bytes(options.challenge),
    timeout: TIMEOUT_MS,
    attestationType: 'none',
    authenticatorSelection: {
      residentKey: options.residentKey ?? 'preferred',
      userVerification: party.userVerification,
    },
    supportedAlgorithmIDs: ALGORITHMS,
    excludeCredentials: options.existing.map(known),
  });
}

/** The options for `navigator.credentials.get`. */
export async function requestOptions(
  party: RelyingParty,
  { challenge, allowed }: { readonly challenge: Buffer; readonly allowed: readonly Known[] },
) {
  const { generateAuthenticationOptions } = await library();
  return generateAuthenticationOptions({
    rpID: party.id,
    challenge: bytes(challenge),
    timeout: TIMEOUT_MS,
    userVerification: party.userVerification,
    allowCredentials: allowed.map(known),
  });
}

interface Taken<Response> {
  readonly party: RelyingParty;
  readonly challenge: Buffer;
  readonly response: Response;
}

/** @throws BAD_REQUEST for a text that is no attestation, WEBAUTHN_VERIFICATION_FAILED */
export async function checkRegistration({ party, challenge, response }: Taken<RegistrationResponse>) {
  const { verifyRegistrationResponse } = await library();
  const { decodeAttestationObject, isoBase64URL } = await helpers();
  await mustPass('webauthn.create', { party, challenge, response }, () =>
    decodeAttestationObject(isoBase64URL.toBuffer(response.response.attestationObject)).get('authData'),
  );
  const { transports, ...rest } = response.response;
  const encoded = { ...rest, attestationObject: await attestedBy(rest.attestationObject) };
  const verified = await verifyRegistrationResponse({
    response: { ...response, response: encoded, clientExtensionResults: {} },
    expectedChallenge: challenge.toString('base64url'),
    expectedOrigin: [...party.origins],
    expectedRPID: party.id,
    requireUserVerification: party.userVerification === 'required',
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch(() => undefined); // each of its errors is about the attestation or the key in it
  if (!verified?.verified) throw failed('attestation');
  const { credential, aaguid, credentialDeviceType, credentialBackedUp } = verified.registrationInfo;
  const credentialId = Buffer.from(credential.id, 'base64url');
  if (credentialId.length > LONGEST_CREDENTIAL_ID) throw failed('credential');
  if (!(await readKey(credential.publicKey))) throw failed('attestation');
  return {
    credentialId,
    publicKey: Buffer.from(credential.publicKey),
    counter: String(credential.counter),
    isMultiDevice: credentialDeviceType === 'multiDevice',
    backedUp: credentialBackedUp,
    transports: [...new Set(transports ?? [])],
    aaguid: /^[0-]+$/.test(aaguid) ? null : aaguid,
  };
}

const READ_FORMATS = new Set([
  'none',
  'packed',
  'fido-u2f',
  'android-key',
  'android-safetynet',
  'apple',
  'tpm',
]);

/** Without the statement of a format that the library does not read: none was asked for (W3C WebAuthn 3, 7.1, 21). */
async function attestedBy(attestationObject: string): Promise<string> {
  const { decodeAttestationObject, isoBase64URL, isoCBOR } = await helpers();
  const decoded = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject));
  const format: unknown = decoded.get('fmt');
  if (typeof format !== 'string' || READ_FORMATS.has(format)) return attestationObject;
  const members: [string, string | Uint8Array | Map<string, never>][] = [
    ['fmt', 'none'],
    ['attStmt', new Map<string, never>()],
    ['authData', decoded.get('authData')],
  ];
  return isoBase64URL.fromBuffer(isoCBOR.encode(new Map(members)));
}

/** @throws BAD_REQUEST for a text that is no assertion, WEBAUTHN_VERIFICATION_FAILED */
export async function checkAssertion(
  { party, challenge, response }: Taken<AssertionResponse>,
  { credentialId, publicKey }: Pick<PasskeyRow, 'credentialId' | 'publicKey'>,
) {
  const { verifyAuthenticationResponse } = await library();
  const { isoBase64URL } = await helpers();
  const origin = await mustPass('webauthn.get', { party, challenge, response }, () =>
    isoBase64URL.toBuffer(response.response.authenticatorData),
  );
  const verified = await verifyAuthenticationResponse({
    response: { ...response, clientExtensionResults: {} },
    expectedChallenge: challenge.toString('base64url'),
    expectedOrigin: [...party.origins],
    expectedRPID: party.id,
    requireUserVerification: party.userVerification === 'required',
    // The row's counter is compared where it is moved on, in one statement.
    credential: { id: credentialId.toString('base64url'), publicKey: bytes(publicKey), counter: 0 },
  }).catch(() => undefined); // each of its errors is about the signature
  if (!verified?.verified) throw failed('signature');
  if (!(await readKey(publicKey))) throw failed('credential'); // registered before its kind was checked
  const { newCounter, credentialBackedUp, userVerified } = verified.authenticationInfo;
  return { counter: newCounter, backedUp: credentialBackedUp, userVerified, origin };
}

/** Makes the checks before the signature. @returns the origin of the page */
async function mustPass(
  type: 'webauthn.create' | 'webauthn.get',
  { party, challenge, response }: Taken<RegistrationResponse | AssertionResponse>,
  authenticatorData: () => Uint8Array<ArrayBuffer>,
): Promise<string> {
  const { decodeClientDataJSON, parseAuthenticatorData } = await helpers();
  const decoded = (() => {
    try {
      const client = Object(decodeClientDataJSON(response.response.clientDataJSON)); // it may be any JSON
      return { client, authenticator: parseAuthenticatorData(authenticatorData()) };
    } catch {
      throw badField('response', 'format'); // the library's message would repeat a part of it
    }
  })();
  const expected = { type, challenge: challenge.toString('base64url'), party };
  const check = failedCheck(decoded.client, decoded.authenticator, expected);
  if (check) throw failed(check);
  return decoded.client.origin;
}

export const failed = (check: CeremonyCheck) =>
  new AppError('WEBAUTHN_VERIFICATION_FAILED', 'The answer of the passkey did not verify.', { check });

/** A stored COSE key as a JWK, for those who check evidence with other libraries. */
export async function publicJwk(publicKey: Buffer): Promise<Readonly<Record<string, unknown>>> {
  const jwk = await readKey(publicKey);
  if (!jwk) throw new Error('The key of a passkey is of a kind that registering refuses.');
  return { ...jwk };
}

async function readKey(publicKey: Uint8Array) {
  const { isoCBOR } = await helpers();
  return jwkOfCose(isoCBOR.decodeFirst<ReadonlyMap<number, unknown>>(bytes(publicKey)));
}

import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';
import type { Call } from './start-app.ts';

type Cbor = Parameters<typeof isoCBOR.encode>[0];

/** Parts of an answer that a test makes wrong. */
export interface Fault {
  readonly type?: string;
  readonly challenge?: string;
  readonly origin?: string;
  readonly crossOrigin?: boolean;
  /** The page around the frame in which the answer was made. */
  readonly topOrigin?: string;
  readonly rpId?: string;
  /** 1: the person is present, 4: verified. */
  readonly flags?: number;
  readonly counter?: number;
  /** Signs with another key, or registers another one. */
  readonly key?: ReturnType<typeof newKey>;
  /** Members of the COSE key of a registration, in place of the right ones. */
  readonly cose?: readonly (readonly [number, number | Uint8Array])[];
  readonly credentialId?: Buffer;
  /** The format of the attestation, with its statement. */
  readonly attestation?: readonly [string, unknown];
  /** The handle that a passkey without a name brings. */
  readonly userHandle?: string;
}

const PRESENT_AND_VERIFIED = 1 | 4;
const HAS_KEY = 64;
const sha256 = (data: Buffer | string) => createHash('sha256').update(data).digest();
const base64url = (data: Buffer | Uint8Array) => Buffer.from(data).toString('base64url');

export const newKey = (namedCurve = 'P-256') => generateKeyPairSync('ec', { namedCurve });
export const newEd25519Key = () => generateKeyPairSync('ed25519');
export const newRsaKey = (modulusLength = 2048) => generateKeyPairSync('rsa', { modulusLength });

const CURVES: Readonly<Record<string, number>> = { 'P-256': 1, 'P-384': 2, 'P-521': 3, Ed25519: 6 };

/** A key as COSE. A key on any NIST curve claims ES256. @see RFC 9053, section 7 @see RFC 8230, section 4 */
function coseOf(publicKey: KeyObject): Map<number, number | Uint8Array> {
  const { kty, crv = '', x = '', y = '', n = '', e = '' } = publicKey.export({ format: 'jwk' });
  const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));
  if (kty === 'RSA') return new Map<number, number | Uint8Array>(rsaMembers(bytes(n), bytes(e)));
  const isEdwards = kty === 'OKP';
  return new Map<number, number | Uint8Array>([
    [1, isEdwards ? 1 : 2],
    [3, isEdwards ? -8 : -7],
    [-1, CURVES[crv] ?? 0],
    [-2, bytes(x)],
    ...(isEdwards ? [] : ([[-3, bytes(y)]] as const)),
  ]);
}

const rsaMembers = (n: Uint8Array, e: Uint8Array) =>
  [
    [1, 3],
    [3, -257],
    [-1, n],
    [-2, e],
  ] as const;

interface Made {
  readonly origin?: string;
  readonly rpId?: string;
  readonly key?: ReturnType<typeof newKey>;
}

/** An authenticator of software, with one passkey, whose answers a test can make wrong. */
export function authenticator({
  origin = 'https://auth.test',
  rpId = 'auth.test',
  key: own = newKey(),
}: Made = {}) {
  const id = randomBytes(32);

  const clientData = (type: string, challenge: string, fault: Fault) =>
    Buffer.from(
      JSON.stringify({
        type: fault.type ?? type,
        challenge: fault.challenge ?? challenge,
        origin: fault.origin ?? origin,
        crossOrigin: fault.crossOrigin ?? false,
        topOrigin: fault.topOrigin, // left out unless a test gives it
      }),
    );

  function authenticatorData(fault: Fault, flags: number, attested = Buffer.alloc(0)) {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(fault.counter ?? 0);
    const given = (fault.flags ?? PRESENT_AND_VERIFIED) | flags;
    return Buffer.concat([sha256(fault.rpId ?? rpId), Buffer.of(given), counter, attested]);
  }

  /** Answers the options of a registration. */
  function create({ challenge }: { challenge: string }, fault: Fault = {}) {
    const credentialId = fault.credentialId ?? id;
    const length = Buffer.alloc(2);
    length.writeUInt16BE(credentialId.length);
    const { publicKey } = fault.key ?? own;
    const cose = new Map([...coseOf(publicKey), ...(fault.cose ?? [])]);
    const attested = Buffer.concat([
      Buffer.alloc(16),
      length,
      credentialId,
      Buffer.from(isoCBOR.encode(cose)),
    ]);
    const authData = new Uint8Array(authenticatorData(fault, HAS_KEY, attested));
    const [format, statement] = fault.attestation ?? (['none', new Map()] as const);
    const attestation = new Map<string, Cbor>([
      ['fmt', format],
      ['attStmt', statement as Cbor], // tests make statements that no authenticator would
      ['authData', authData],
    ]);
    return {
      id: base64url(credentialId),
      rawId: base64url(credentialId),
      type: 'public-key',
      response: {
        clientDataJSON: base64url(clientData('webauthn.create', challenge, fault)),
        attestationObject: base64url(isoCBOR.encode(attestation)),
        transports: ['internal'],
        publicKeyAlgorithm: -7,
      },
      clientExtensionResults: {},
      authenticatorAttachment: 'platform',
    };
  }

  /** Answers the options of an assertion. */
  function get({ challenge }: { challenge: string }, fault: Fault = {}) {
    const data = authenticatorData(fault, 0);
    const client = clientData('webauthn.get', challenge, fault);
    const { privateKey } = fault.key ?? own;
    const digest = privateKey.asymmetricKeyType === 'ed25519' ? null : 'sha256'; // Ed25519 hashes by itself
    const signature = sign(digest, Buffer.concat([data, sha256(client)]), privateKey);
    const credentialId = base64url(fault.credentialId ?? id);
    return {
      id: credentialId,
      rawId: credentialId,
      type: 'public-key',
      response: {
        clientDataJSON: base64url(client),
        authenticatorData: base64url(data),
        signature: base64url(signature),
        userHandle: fault.userHandle ?? null,
      },
      clientExtensionResults: {},
    };
  }

  return { create, get, credentialId: base64url(id) };
}

export type Authenticator = ReturnType<typeof authenticator>;

/** Registers the authenticator's passkey for a principal. @returns the record */
export async function registerPasskey(
  developer: Call,
  device: Authenticator,
  { principalId = 'user_42', fault = {} as Fault, ...more }: RegistrationOptions = {},
) {
  const options = (await developer('POST', '/v1/webauthn/register/options', { principalId })).json();
  const { challengeId, publicKey } = options;
  const response = device.create(publicKey, fault);
  const answer = await developer('POST', '/v1/webauthn/register/verify', { challengeId, response, ...more });
  if (answer.statusCode !== 201) throw new Error(`passkey: ${answer.body}`);
  return answer.json();
}

interface RegistrationOptions {
  readonly principalId?: string;
  readonly deviceName?: string;
  readonly fault?: Fault;
}

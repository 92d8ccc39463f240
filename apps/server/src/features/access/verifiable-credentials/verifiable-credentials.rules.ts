import { didOfHost } from '@behest/protocol/did';
import { bitstringUrl } from './verifiable-credentials.status.rules.ts';

export const GRANT_CREDENTIAL = 'AgentGrantCredential';

/** The place of a credential in its status list. */
export interface Place {
  readonly listId: string;
  readonly idx: number;
}

/** The statement of a credential about a grant. */
export interface GrantStatement {
  readonly agentDid: string;
  readonly principalId: string;
  readonly developerId: string;
  readonly grantId: string;
  readonly scopes: readonly string[];
  readonly delegationDepth: number;
}

/** A credential that is about to be signed. */
export interface Issuing {
  readonly credentialId: string;
  readonly statement: GrantStatement;
  readonly place: Place;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly evidence?: readonly PasskeyAssertion[] | undefined;
}

/** The passkey of the service with which a person approved. */
export interface PasskeyAssertion {
  readonly type: 'PasskeyAssertion';
  readonly credentialId: string;
  readonly userVerified: boolean;
  readonly verifiedAt: string;
}

/** The names by which a service speaks. */
export interface Issuer {
  /** The `iss` of tokens. */
  readonly issuer: string;
  readonly publicBaseUrl: string;
  /** As in a URL. */
  readonly didHost: string;
}

export const epochSeconds = (time: Date) => Math.floor(time.getTime() / 1000);

export const issuerDid = ({ didHost }: Pick<Issuer, 'didHost'>) => didOfHost(didHost);

const vocabularyUrl = ({ publicBaseUrl }: Pick<Issuer, 'publicBaseUrl'>) =>
  `${publicBaseUrl}/ns/credentials/v1`;

const idOf = (credentialId: string) => `urn:behest:vc:${credentialId}`;

/** The claims of a credential in the W3C's data model 2.0, secured as a JWT (VC-JOSE-COSE, section 3.1.1). */
export function credentialClaims(service: Issuer, issuing: Issuing) {
  const { credentialId, statement, place, issuedAt, expiresAt, evidence } = issuing;
  const { agentDid, ...others } = statement;
  const did = issuerDid(service);
  const { publicBaseUrl } = service;
  const list = bitstringUrl({ publicBaseUrl, listId: place.listId });
  return {
    '@context': ['https://www.w3.org/ns/credentials/v2', vocabularyUrl(service)],
    id: idOf(credentialId),
    type: ['VerifiableCredential', GRANT_CREDENTIAL],
    issuer: did,
    validFrom: issuedAt.toISOString(),
    validUntil: expiresAt.toISOString(),
    credentialSubject: { id: agentDid, type: 'AIAgent', ...others },
    credentialStatus: [
      {
        id: `${list}#${place.idx}`,
        type: 'BitstringStatusListEntry',
        statusPurpose: 'revocation',
        statusListIndex: String(place.idx),
        statusListCredential: list,
      },
    ],
    ...(evidence && { evidence }),
    iss: did,
    sub: agentDid,
    jti: credentialId,
    iat: epochSeconds(issuedAt),
    exp: epochSeconds(expiresAt),
  };
}

/** The member `vc`, in which clients of the model 1.1 look for a credential. */
export function legacyMember(claims: ReturnType<typeof credentialClaims>) {
  const { '@context': context, type, credentialSubject, credentialStatus, evidence } = claims;
  return { '@context': context, type, credentialSubject, credentialStatus, ...(evidence && { evidence }) };
}

/** The parts of a credential with a good signature that a verifier reads. */
export interface ReadCredential {
  readonly credentialId: string;
  readonly credentialType: string;
  readonly subject: string;
  readonly expiresAt: string;
  readonly place: Place;
}

/** Reads a credential of the service's own model. @returns undefined for any other shape */
export function readCredential(
  service: Issuer,
  payload: Readonly<Record<string, unknown>>,
): ReadCredential | undefined {
  const { '@context': context, id, type, issuer, iss, sub, jti, exp, credentialSubject } = payload;
  const [first] = Array.isArray(context) ? context : [];
  if (first !== 'https://www.w3.org/ns/credentials/v2' || issuer !== iss) return undefined;
  if (typeof jti !== 'string' || id !== idOf(jti) || typeof sub !== 'string') return undefined;
  if (!Array.isArray(type) || type[0] !== 'VerifiableCredential' || typeof type[1] !== 'string')
    return undefined;
  if (Object(credentialSubject).id !== sub || typeof exp !== 'number') return undefined;
  const place = placeOf(service, payload.credentialStatus);
  if (!place) return undefined;
  const expiresAt = new Date(exp * 1000).toISOString();
  return { credentialId: jti, credentialType: type[1], subject: sub, expiresAt, place };
}

function placeOf({ publicBaseUrl }: Issuer, statuses: unknown): Place | undefined {
  const [status] = Array.isArray(statuses) ? statuses : [];
  const { type, statusListCredential, statusListIndex } = Object(status);
  if (type !== 'BitstringStatusListEntry' || typeof statusListCredential !== 'string') return undefined;
  const prefix = bitstringUrl({ publicBaseUrl, listId: '' });
  if (!statusListCredential.startsWith(prefix) || !/^\d{1,6}$/.test(String(statusListIndex)))
    return undefined;
  return { listId: statusListCredential.slice(prefix.length), idx: Number(statusListIndex) };
}

/** The vocabulary of the service's own terms, for readers of linked data. */
export const vocabulary = (service: Pick<Issuer, 'publicBaseUrl'>) => {
  const base = `${vocabularyUrl(service)}#`;
  const terms = [
    'AgentGrantCredential',
    'AIAgent',
    'principalId',
    'developerId',
    'grantId',
    'scopes',
    'delegationDepth',
    'PasskeyAssertion',
    'credentialId',
    'userVerified',
    'verifiedAt',
  ];
  return {
    '@context': {
      '@version': 1.1,
      '@protected': true,
      ...Object.fromEntries(terms.map((term) => [term, `${base}${term}`])),
    },
  };
};

import { didOfHost } from '@behest/protocol/did';

export const GRANT_CREDENTIAL = 'AgentGrantCredential';
export const PASSPORT_CREDENTIAL = 'AgentPassportCredential';

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
  /** There for accounts of the sandbox, where no person has to approve. */
  readonly sandbox?: true;
}

/** Says in a statement whether it is of the sandbox. */
export const markOf = ({ mode }: { readonly mode: 'live' | 'sandbox' }): Pick<GrantStatement, 'sandbox'> =>
  mode === 'sandbox' ? { sandbox: true } : {};

/** A credential about a grant that is about to be signed. */
export interface Issuing {
  readonly credentialId: string;
  readonly statement: GrantStatement;
  readonly place: Place;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly evidence?: readonly PasskeyAssertion[] | undefined;
}

/** A W3C credential of any type that is about to be signed. */
export interface Stating
  extends Pick<Issuing, 'credentialId' | 'place' | 'issuedAt' | 'expiresAt' | 'evidence'> {
  readonly type: string;
  /** The `id` of the credential. */
  readonly uri: string;
  readonly subject: Readonly<Record<string, unknown>> & { readonly id: string };
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
const passportIdOf = (credentialId: string) => `urn:behest:passport:${credentialId.replace(/^vc_/, '')}`;

/** The `id` that a credential of a type has. */
export const uriOf = (type: string, credentialId: string) =>
  type === PASSPORT_CREDENTIAL ? passportIdOf(credentialId) : idOf(credentialId);

/** A credential in the W3C's data model 2.0, without the claims of a JWT. */
export function plainCredential(service: Issuer, stating: Stating) {
  const { type, uri, subject, place, issuedAt, expiresAt, evidence } = stating;
  const { publicBaseUrl } = service;
  const list = bitstringUrl({ publicBaseUrl, listId: place.listId });
  return {
    '@context': ['https://www.w3.org/ns/credentials/v2', vocabularyUrl(service)],
    id: uri,
    type: ['VerifiableCredential', type],
    issuer: issuerDid(service),
    validFrom: issuedAt.toISOString(),
    validUntil: expiresAt.toISOString(),
    credentialSubject: subject,
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
  };
}

/** The claims of a credential that is secured as a JWT (VC-JOSE-COSE, section 3.1.1). */
export function securedClaims(service: Issuer, stating: Stating) {
  const { credentialId, subject, issuedAt, expiresAt } = stating;
  return {
    ...plainCredential(service, stating),
    iss: issuerDid(service),
    sub: subject.id,
    jti: credentialId,
    iat: epochSeconds(issuedAt),
    exp: epochSeconds(expiresAt),
  };
}

/** The claims of a credential about a grant. */
export function credentialClaims(service: Issuer, { statement, ...issuing }: Issuing) {
  const { agentDid, ...others } = statement;
  return securedClaims(service, {
    ...issuing,
    type: GRANT_CREDENTIAL,
    uri: uriOf(GRANT_CREDENTIAL, issuing.credentialId),
    subject: { id: agentDid, type: 'AIAgent', ...others },
  });
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
  if (typeof jti !== 'string' || typeof sub !== 'string') return undefined;
  if (!Array.isArray(type) || type[0] !== 'VerifiableCredential' || typeof type[1] !== 'string')
    return undefined;
  if (id !== uriOf(type[1], jti)) return undefined;
  if (Object(credentialSubject).id !== sub || typeof exp !== 'number') return undefined;
  const place = placeOf(service, payload.credentialStatus);
  if (!place) return undefined;
  const expiresAt = new Date(exp * 1000).toISOString();
  return { credentialId: jti, credentialType: type[1], subject: sub, expiresAt, place };
}

/** The place that the `credentialStatus` of a credential names. */
export function placeOf(
  { publicBaseUrl }: Pick<Issuer, 'publicBaseUrl'>,
  statuses: unknown,
): Place | undefined {
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
    'sandbox',
    'PasskeyAssertion',
    'credentialId',
    'userVerified',
    'verifiedAt',
    PASSPORT_CREDENTIAL,
    'humanPrincipal',
    'organizationDID',
    'allowedMPPCategories',
    'maxTransactionAmount',
    'amount',
    'currency',
    'paymentRails',
    'parentPassportId',
  ];
  return {
    '@context': {
      '@version': 1.1,
      '@protected': true,
      ...Object.fromEntries(terms.map((term) => [term, `${base}${term}`])),
    },
  };
};

/** How long a verifier may keep a list: five minutes, and a day at most. */
export const TTL_SECONDS = 300;
export const LIFETIME_SECONDS = 86_400;

export interface ListAddress {
  readonly publicBaseUrl: string;
  readonly listId: string;
}

export const bitstringUrl = ({ publicBaseUrl, listId }: ListAddress) =>
  `${publicBaseUrl}/v1/credentials/status/${listId}`;

export const tokenListUrl = ({ publicBaseUrl, listId }: ListAddress) =>
  `${publicBaseUrl}/v1/status-lists/${listId}`;

/** A Bitstring Status List credential. @param list the packed bits, base64url; @param profile `2021` for clients that read the draft before it */
export function statusListCredential(
  issuer: string,
  url: string,
  list: string,
  { at, profile }: { readonly at: Date; readonly profile: '2021' | undefined },
) {
  const isOld = profile === '2021';
  const validUntil = new Date(at.getTime() + LIFETIME_SECONDS * 1000);
  return {
    '@context': ['https://www.w3.org/ns/credentials/v2'],
    id: url,
    type: [
      'VerifiableCredential',
      isOld ? ('StatusList2021Credential' as const) : ('BitstringStatusListCredential' as const),
    ],
    issuer,
    validFrom: at.toISOString(),
    validUntil: validUntil.toISOString(),
    credentialSubject: {
      id: `${url}#list`,
      type: isOld ? ('StatusList2021' as const) : ('BitstringStatusList' as const),
      statusPurpose: 'revocation' as const,
      ...(!isOld && { ttl: TTL_SECONDS * 1000 }),
      encodedList: `${isOld ? '' : 'u'}${list}`,
    },
  };
}

/** The claims of a Token Status List. */
export function tokenListClaims(url: string, lst: string, at: Date) {
  const iat = Math.floor(at.getTime() / 1000);
  return {
    sub: url,
    iat,
    exp: iat + LIFETIME_SECONDS,
    ttl: TTL_SECONDS,
    status_list: { bits: 1, lst },
  };
}

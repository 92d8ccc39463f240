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

import { type CryptoKey, type JWK, type KeyObject, SignJWT } from 'jose';

export interface PersonToAsk {
  /** `consentUrl` and `authRequestId` of the answer to `POST /v1/authorize`. */
  readonly consentUrl: string;
  readonly authRequestId: string;
  /** The person who has signed in to your application: the `principalId` of the request. */
  readonly principalId: string;
}

export interface Voucher {
  readonly developerId: string;
  /** The address of the service, as its tokens name it in `iss`. */
  readonly issuer: string;
  /** The private half of one of your `consentKeys`, here EC P-256. */
  readonly privateKey: CryptoKey | KeyObject | JWK;
}

/** @returns the address for the person's browser, valid for five minutes and for this request only */
export async function consentLink(person: PersonToAsk, voucher: Voucher): Promise<string> {
  const hint = await new SignJWT({ areq: person.authRequestId })
    .setProtectedHeader({ alg: 'ES256', typ: 'consent-hint+jwt' })
    .setIssuer(voucher.developerId)
    .setAudience(voucher.issuer)
    .setSubject(person.principalId)
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign(voucher.privateKey);
  return `${person.consentUrl}&hint=${hint}`; // the fragment reaches no server and no log
}

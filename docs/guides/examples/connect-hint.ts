import { type CryptoKey, type JWK, type KeyObject, SignJWT } from 'jose';

export interface Voucher {
  readonly developerId: string;
  /** The address of the service, as its tokens name it in `iss`. */
  readonly issuer: string;
  /** The private half of one of your `consentKeys`, here EC P-256. */
  readonly privateKey: CryptoKey | KeyObject | JWK;
}

/**
 * Answers a request to your `connectLoginUrl`, after the person has signed in to your application.
 * @param asked the query of that request: `connect`, `nonce` and `return`
 * @param principalId the person who is signed in, and never a value of the query
 * @returns the address to which your application redirects the browser
 */
export async function connectReturn(
  asked: URLSearchParams,
  principalId: string,
  voucher: Voucher,
): Promise<string> {
  const back = new URL(asked.get('return') ?? '');
  if (back.origin !== new URL(voucher.issuer).origin)
    throw new Error('This is not an address of the service.');
  const hint = await new SignJWT({ conn: asked.get('connect'), nonce: asked.get('nonce') })
    .setProtectedHeader({ alg: 'ES256', typ: 'connect-hint+jwt' })
    .setIssuer(voucher.developerId)
    .setAudience(voucher.issuer)
    .setSubject(principalId)
    .setIssuedAt()
    .setExpirationTime('1m')
    .sign(voucher.privateKey);
  return `${back.href}#hint=${hint}`; // the fragment reaches no server and no log
}

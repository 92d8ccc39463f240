import { encodeBase64url } from '@behest/protocol/base64url';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';

/** The two halves of a proof that the program that exchanges a code is the one that asked for it. */
export interface Pkce {
  /** Keep it, and hand it to `tokens.exchange`. */
  readonly codeVerifier: string;
  /** Hand it to `authorize`, with the method. */
  readonly codeChallenge: string;
  readonly codeChallengeMethod: 'S256';
}

/**
 * Makes a code verifier with its challenge.
 *
 * @see RFC 7636, sections 4.1 and 4.2
 *
 * @example
 * ```ts
 * const { codeVerifier, ...challenge } = generatePkce();
 * const { consentUrl } = await behest.authorize({ ...wanted, ...challenge, redirectUri });
 * // … and when the person has come back with a code:
 * const { grantToken } = await behest.tokens.exchange({ code, agentId, codeVerifier, redirectUri });
 * ```
 */
export function generatePkce(): Pkce {
  const codeVerifier = encodeBase64url(crypto.getRandomValues(new Uint8Array(32)));
  return { codeVerifier, codeChallenge: pkceChallenge(codeVerifier), codeChallengeMethod: 'S256' };
}

/** The S256 challenge of a verifier. */
export function pkceChallenge(codeVerifier: string): string {
  return encodeBase64url(sha256(utf8ToBytes(codeVerifier)));
}

import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { readText } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';

const LIFE_SECONDS = 300; // the service takes no longer life

/** The request that a hint is for, and the person whom it vouches for. */
export interface Vouched {
  readonly authRequestId: string;
  readonly principalId: string;
  readonly consentUrl: string;
}

/**
 * Makes the address of the consent page with a hint, as the account's program makes one for a person whom it has signed
 * in. The consent key of the profile signs the hint.
 *
 * @returns the address as it is where the profile has no consent key, or where another key than that of the profile asked
 */
export async function hintedUrl(context: Context, { consentUrl, ...vouched }: Vouched): Promise<string> {
  const { apiKey, profile } = await context.settings();
  if (profile.consentKeyFile === undefined || apiKey !== profile.apiKey) return consentUrl;
  const key = privateKeyIn(profile.consentKeyFile);
  const [{ developerId }, { issuer }] = await Promise.all([
    context.client().then((client) => client.me()),
    context.openClient().then((client) => client.oauth.metadata()),
  ]);
  const iat = Math.floor(Date.now() / 1_000);
  const claims = {
    ...{ iss: developerId, aud: issuer, sub: vouched.principalId, areq: vouched.authRequestId },
    ...{ iat, exp: iat + LIFE_SECONDS },
  };
  return `${consentUrl}&hint=${signed(claims, key)}`; // the fragment reaches no server and no log
}

/** @throws CliError for a file that holds no private key */
function privateKeyIn(file: string): KeyObject {
  const text = readText(file);
  try {
    return text.trimStart().startsWith('{')
      ? createPrivateKey({ key: JSON.parse(text), format: 'jwk' })
      : createPrivateKey(text);
  } catch {
    throw new CliError(
      'CONFIGURATION',
      `${file} holds no private key: a JWK or PEM of P-256 or RSA is needed.`,
      {
        next: 'behest config set --consent-key-file <file>',
      },
    );
  }
}

/** A JWT in its compact form (RFC 7515, section 3.1), with the signature form of JWA (RFC 7518, section 3.4). */
function signed(claims: object, key: KeyObject): string {
  const alg = key.asymmetricKeyType === 'rsa' ? 'RS256' : 'ES256';
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const input = `${part({ alg, typ: 'consent-hint+jwt' })}.${part(claims)}`;
  const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}

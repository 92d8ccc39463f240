import { parseJson } from '@behest/protocol/json';
import { type OAuthErrorName, oauthRefusal } from '../../../platform/errors.ts';

/** The way in which a client says who it is. */
export type PresentedCredentials =
  | { readonly method: 'none'; readonly clientId: string }
  | {
      readonly method: 'client_secret_basic' | 'client_secret_post';
      readonly clientId: string;
      readonly secret: string;
    }
  | { readonly method: 'private_key_jwt'; readonly clientId: string; readonly assertion: string };

export interface SentCredentials {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly client_assertion_type?: string;
  readonly client_assertion?: string;
}

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** @see RFC 6749 §2.3: a client uses one method in a request. @throws invalid_request, invalid_client */
export function presentedCredentials(
  authorization: string | undefined,
  sent: SentCredentials,
): PresentedCredentials {
  const { client_id, client_secret, client_assertion, client_assertion_type } = sent;
  const ways = [authorization, client_secret, client_assertion].filter((way) => way !== undefined);
  if (ways.length > 1) throw oauthRefusal('invalid_request', 'Authenticate the client in one way only.');
  if (client_assertion !== undefined || client_assertion_type !== undefined) {
    if (client_assertion_type !== ASSERTION_TYPE || client_assertion === undefined) {
      throw oauthRefusal('invalid_client', `Send \`client_assertion\` with the type ${ASSERTION_TYPE}.`);
    }
    const clientId = client_id ?? subjectOf(client_assertion);
    return { method: 'private_key_jwt', clientId, assertion: client_assertion };
  }
  if (authorization !== undefined) {
    const basic = basicOf(authorization);
    if (client_id !== undefined && client_id !== basic.clientId) {
      throw oauthRefusal('invalid_request', 'Two clients are named; name one.');
    }
    return { method: 'client_secret_basic', ...basic };
  }
  if (client_id === undefined || client_id === '') {
    throw oauthRefusal('invalid_client', 'Send `client_id`, or authenticate the client.');
  }
  return client_secret === undefined
    ? { method: 'none', clientId: client_id }
    : { method: 'client_secret_post', clientId: client_id, secret: client_secret };
}

/** RFC 6749 §2.3.1: both parts are encoded as a form encodes them. */
function basicOf(authorization: string): { clientId: string; secret: string } {
  const [, encoded = ''] = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(authorization) ?? [];
  const [clientId, secret] =
    /^([^:]+):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString())?.slice(1) ?? [];
  const parts = [clientId, secret].map((part) => (part === undefined ? undefined : decoded(part)));
  if (parts[0] === undefined || parts[1] === undefined) {
    throw oauthRefusal('invalid_client', 'The `Authorization` header is not HTTP Basic.');
  }
  return { clientId: parts[0], secret: parts[1] };
}

function decoded(part: string): string | undefined {
  try {
    const text = decodeURIComponent(part.replaceAll('+', ' '));
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** The unverified subject of an assertion, used only to find the key that verifies it. */
export function subjectOf(assertion: string, refusal: OAuthErrorName = 'invalid_client'): string {
  try {
    const { sub } = Object(parseJson(Buffer.from(assertion.split('.')[1] ?? '', 'base64url')));
    if (typeof sub === 'string') return sub;
  } catch {}
  throw oauthRefusal(refusal, 'The assertion cannot be read.');
}

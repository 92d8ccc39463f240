import { oauthRefusal } from '../../../platform/errors.ts';
import type { TokenForm } from './oauth.schema.ts';

/** The credential that comes with a token. The token itself always comes. */
export type CredentialFormat = 'jwt' | 'vc-jwt' | 'sd-jwt' | 'both';

const FORMATS = new Map<string, CredentialFormat>([
  ['jwt', 'jwt'],
  ['vc-jwt', 'vc-jwt'],
  ['sd-jwt', 'sd-jwt'],
  ['both', 'both'],
]);

/** The credential that a form asks for. @throws invalid_request */
export function formatOf({ credential_format: format = 'jwt' }: TokenForm): CredentialFormat {
  const known = FORMATS.get(format);
  if (!known) throw oauthRefusal('invalid_request', 'The service has no such `credential_format`.');
  return known;
}

/** The same for a part of a grant, about which there is no SD-JWT, as in a native delegation. @throws invalid_request */
export function partFormatOf(form: TokenForm): Exclude<CredentialFormat, 'sd-jwt'> {
  const format = formatOf(form);
  if (format !== 'sd-jwt') return format;
  throw oauthRefusal('invalid_request', 'A token exchange gives no SD-JWT; ask for `vc-jwt`.');
}

/** A form by which a grant goes on, which is not the moment to state it. @throws invalid_request */
export function mustAskNoCredential(form: TokenForm): void {
  if (formatOf(form) === 'jwt') return;
  throw oauthRefusal('invalid_request', 'Leave `credential_format` out, and use `POST /v1/credentials`.');
}

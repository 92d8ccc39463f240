import { createHash } from 'node:crypto';
import { isScope } from '@behest/protocol/scopes';
import { AppError, badField } from '../../../platform/errors.ts';
import type { DeveloperChange } from './developers.schema.ts';
import { isUsableKey } from './public-keys.rules.ts';
import { isRedirectUri } from './redirect-uris.rules.ts';

/** @throws BAD_REQUEST or INVALID_REDIRECT_URI for a setting of the right shape that cannot be used. */
export function mustBeKeepableSettings({
  consentKeys,
  redirectUris,
  scopeDescriptions,
  connectLoginUrl,
}: DeveloperChange): void {
  for (const [at, jwk] of (consentKeys ?? []).entries()) {
    if (!isUsableKey(jwk))
      throw badField(`consentKeys.${at}`, 'format', 'A consent key is not a usable public key.');
  }
  const wrong = (redirectUris ?? []).findIndex((uri) => !isRedirectUri(uri));
  if (wrong >= 0) {
    throw new AppError(
      'INVALID_REDIRECT_URI',
      'Register absolute https URLs, loopback addresses or app addresses.',
      {
        fields: [{ path: `redirectUris.${wrong}`, problem: 'format' }],
      },
    );
  }
  if (connectLoginUrl && !(isRedirectUri(connectLoginUrl) && /^https?:/i.test(connectLoginUrl))) {
    throw badField('connectLoginUrl', 'format', 'Send an absolute https URL, or null.');
  }
  const unknown = Object.keys(scopeDescriptions ?? {}).find((scope) => !isScope(scope));
  if (unknown !== undefined) throw badField(`scopeDescriptions.${unknown}`, 'format');
}

/** The keys of a JSON column, whose contents the compiler does not know. */
export const keysIn = (column: unknown): object[] => (Array.isArray(column) ? column.map(Object) : []);

export const thumbprintsOf = (column: unknown): string[] => keysIn(column).map(thumbprintOf);

/** A hash that identifies a key. @see RFC 7638 */
export function thumbprintOf(jwk: object): string {
  const members = ['crv', 'e', 'kty', 'n', 'x', 'y'];
  const hashed = Object.entries(jwk).filter(([name]) => members.includes(name));
  const sorted = Object.fromEntries(hashed.sort(([a], [b]) => (a < b ? -1 : 1)));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('base64url');
}

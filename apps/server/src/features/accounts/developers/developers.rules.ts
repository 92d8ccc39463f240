import { createHash } from 'node:crypto';
import { isScope } from '@behest/protocol/scopes';
import { AppError, badField } from '../../../platform/errors.ts';
import type { DeveloperChange } from './developers.schema.ts';
import { isUsableKey } from './public-keys.rules.ts';
import { isRedirectUri } from './redirect-uris.rules.ts';

/** @throws BAD_REQUEST or INVALID_REDIRECT_URI for what has the right shape and cannot be kept. */
export function mustBeKeepableSettings({
  consentKeys,
  redirectUris,
  scopeDescriptions,
}: DeveloperChange): void {
  for (const [at, jwk] of (consentKeys ?? []).entries()) {
    if (!isUsableKey(jwk)) throw badField(`consentKeys.${at}`, 'format', 'A consent key is not a key.');
  }
  const wrong = (redirectUris ?? []).findIndex((uri) => !isRedirectUri(uri));
  if (wrong >= 0) {
    throw new AppError(
      'INVALID_REDIRECT_URI',
      'Register absolute https URLs (or a loopback or app address).',
      {
        fields: [{ path: `redirectUris.${wrong}`, problem: 'format' }],
      },
    );
  }
  const unknown = Object.keys(scopeDescriptions ?? {}).find((scope) => !isScope(scope));
  if (unknown !== undefined) throw badField(`scopeDescriptions.${unknown}`, 'format');
}

/** The keys in a column of them, which to the compiler is any JSON. */
export const keysIn = (column: unknown): object[] => (Array.isArray(column) ? column.map(Object) : []);

/** Of a column of keys. */
export const thumbprintsOf = (column: unknown): string[] => keysIn(column).map(thumbprintOf);

/** What else names a key without showing it. @see RFC 7638 */
export function thumbprintOf(jwk: object): string {
  const members = ['crv', 'e', 'kty', 'n', 'x', 'y'];
  const hashed = Object.entries(jwk).filter(([name]) => members.includes(name));
  const sorted = Object.fromEntries(hashed.sort(([a], [b]) => (a < b ? -1 : 1)));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('base64url');
}

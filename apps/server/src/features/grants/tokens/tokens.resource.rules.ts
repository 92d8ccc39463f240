import { distinctScopes, uncovered } from '@behest/protocol/scopes';
import { oauthRefusal } from '../../../platform/errors.ts';

const ALONE: ReadonlySet<string> = new Set(['*', 'vault:credentials:exchange']);
/** `<service>:*`, `<service>:read`, `<service>:credentials:read`, `vault:<service>:*` and `vault:<service>:read`. */
const OF_SERVICE = /^(?:[^:]+:(?:\*|read|credentials:read)|vault:[^:]+:(?:\*|read))$/;

/** Whether a scope opens the exchange of a credential. @see `matchingScope` of the vault, which has the same forms */
const opensExchange = (scope: string): boolean => ALONE.has(scope) || OF_SERVICE.test(scope);

/**
 * The scopes of a token for the vault.
 * @param wanted undefined for all that open an exchange
 * @throws invalid_scope
 */
export function vaultScopes(held: readonly string[], wanted: readonly string[] | undefined): string[] {
  const own = held.filter(opensExchange);
  const scopes = distinctScopes(wanted ?? own);
  const isWithin = scopes.every(opensExchange) && uncovered(own, scopes).length === 0;
  if (scopes.length > 0 && isWithin) return scopes;
  throw oauthRefusal('invalid_scope', 'The token has no such scope for the exchange of a credential.');
}

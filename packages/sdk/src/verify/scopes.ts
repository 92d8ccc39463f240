import { uncovered } from '@behest/protocol/scopes';
import { parseToolScope } from '@behest/protocol/tool-scopes';
import { TOOLS_TYPE } from '@behest/protocol/tools-entry';
import type { VerifiedGrant } from './verified-grant.ts';

/**
 * Lists the required scopes that a token does not satisfy. A tool scope is not satisfied where the token limits the
 * arguments of its connector: the scope alone no longer says what is allowed, and `enforce` has to be asked.
 */
export function missingScopes(
  { scopes, authorizationDetails }: Pick<VerifiedGrant, 'scopes' | 'authorizationDetails'>,
  required: readonly string[],
): string[] {
  const entries: readonly unknown[] = Array.isArray(authorizationDetails) ? authorizationDetails : [];
  const limited = entries
    .map((entry) => Object(entry))
    .filter(({ type, arguments: rules }) => type === TOOLS_TYPE && rules !== undefined)
    .map(({ connector }) => connector);
  const missing = new Set(uncovered(scopes, required));
  return required.filter((scope) => {
    const connector = parseToolScope(scope)?.connector;
    const isLimited = connector === '*' ? limited.length > 0 : limited.includes(connector);
    return missing.has(scope) || (connector !== undefined && isLimited);
  });
}

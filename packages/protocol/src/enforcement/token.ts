import { isObject } from '../arguments/rules.ts';
import { GRANT_CLAIM, type GrantClaims } from '../claims.ts';
import type { VerifiedGrant } from '../token-verifier.ts';
import { parseToolScope, type ToolScope } from '../tool-scopes.ts';
import { type ReadEntries, readIssuedEntries } from './entries.ts';
import type { Warning } from './result.ts';

/** A tool scope that does not fit the grammar. It covers nothing. */
interface UnreadableScope {
  readonly connector: string | undefined;
  /** True when it has a cap that nobody can read. */
  readonly isCapped: boolean;
}

/** A verified token as the engine uses it, read once for each token. */
export interface ReadToken {
  readonly claims: GrantClaims;
  readonly entries: ReadEntries;
  readonly scopes: readonly ToolScope[];
  readonly unreadable: readonly UnreadableScope[];
  readonly warnings: readonly Warning[];
  /** The hash of each connector's manifest as it was at the consent, in base64url. */
  readonly manifests: Readonly<Record<string, unknown>>;
  /** True when a tool that is wider than at the consent is denied. */
  readonly enforcesManifests: boolean;
}

const read = new WeakMap<VerifiedGrant, ReadToken>();

/** Reads a verified token. A source that answers the same object again costs no second reading. */
export function readToken(verified: VerifiedGrant): ReadToken {
  const known = read.get(verified);
  if (known) return known;
  const token = make(verified);
  read.set(verified, token);
  return token;
}

function make({ claims, payload }: VerifiedGrant): ReadToken {
  const grant = isObject(payload[GRANT_CLAIM]) ? payload[GRANT_CLAIM] : {};
  const toolScopes = claims.scopes.filter((scope) => scope.startsWith('tool:'));
  const malformed = toolScopes.filter((scope) => parseToolScope(scope) === undefined);
  return {
    claims,
    entries: readIssuedEntries(claims.authorizationDetails),
    scopes: toolScopes.flatMap((scope) => parseToolScope(scope) ?? []),
    unreadable: malformed.map((scope) => {
      const [, connector, ...rest] = scope.split(':');
      return { connector, isCapped: rest.includes('capped') };
    }),
    warnings: [...malformed.map(unreadableScope), ...legacyClaims(payload)],
    manifests: isObject(grant.manifests) ? grant.manifests : {},
    enforcesManifests: grant.manifest_mode === 'enforce',
  };
}

function unreadableScope(scope: string): Warning {
  return { code: 'scope_unreadable', detail: scope };
}

/** Claims of the first tokens, in which the token id is the grant id and the scopes are one text. */
function legacyClaims({ scp, grnt, jti, [GRANT_CLAIM]: grant }: VerifiedGrant['payload']): Warning[] {
  const hasGrant = grnt !== undefined || (isObject(grant) && grant.grant_id !== undefined);
  const aliases = [scp === undefined && 'scope', !hasGrant && jti !== undefined && 'jti'];
  return aliases.filter((alias) => alias !== false).map((detail) => ({ code: 'legacy_claim', detail }));
}

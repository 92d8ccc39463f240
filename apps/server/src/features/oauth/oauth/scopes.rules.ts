import { distinctScopes } from '@behest/protocol/scopes';
import { isWithin, reachesConnector, type ToolLevel, toolLevels } from '@behest/protocol/tool-scopes';
import { isConnectorName } from '@behest/protocol/tools-entry';
import { oauthRefusal } from '../../../platform/errors.ts';

const MOST_SCOPES = 100;

/** The tools of a connector, each with the permission that it demands. */
export type Permissions = ReadonlyMap<string, { readonly permission: ToolLevel }>;

/** @throws invalid_scope */
export function mustBeScopes(scopes: readonly string[]): string[] {
  if (scopes.length > 0 && scopes.length <= MOST_SCOPES) return [...scopes];
  throw oauthRefusal('invalid_scope', 'Send `scope` with 1 to 100 scopes.');
}

/** The connectors of details that no scope reaches. The engine judges the details; malformed entries name none here. */
export function connectorsWithoutScope(scopes: readonly string[], details: readonly unknown[]): string[] {
  const named = details.map((entry) => String(Object(entry).connector)).filter(isConnectorName);
  return distinctScopes(named).filter((connector) => !reachesConnector(scopes, connector));
}

/**
 * The scope of an entry that came without one: the highest permission that a tool of its list demands. Without a
 * manifest, or a list of tools, it is the lowest permission, so nothing is derived that the client has not named.
 */
export function derivedScope(
  connector: string,
  details: readonly unknown[],
  permissions?: Permissions,
): string {
  const { tools } = Object(details.find((entry) => Object(entry).connector === connector));
  const patterns = Array.isArray(tools) ? tools.map(String) : [];
  const listed = [...(permissions ?? [])].filter(([name]) => patterns.some((each) => isWithin(each, name)));
  const levels = listed.map(([, { permission }]) => toolLevels.indexOf(permission));
  return `tool:${connector}:${toolLevels[Math.max(0, ...levels)]}`;
}

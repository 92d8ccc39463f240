import { parseToolScope } from './tool-scopes.ts';
import type { ToolsEntry } from './tools-entry.ts';

/**
 * Lists the required tool scopes that a token no longer satisfies by itself, because its entry for their connector
 * limits arguments: which calls are allowed, only the engine can tell. For the connector `*` any such entry counts.
 */
export function limitedScopes(required: readonly string[], entries: readonly ToolsEntry[]): string[] {
  const limited = entries.filter((entry) => entry.arguments).map(({ connector }) => connector);
  return required.filter((scope) => {
    const connector = parseToolScope(scope)?.connector;
    return connector === '*' ? limited.length > 0 : connector !== undefined && limited.includes(connector);
  });
}

import type { Manifest } from '@behest/protocol/manifest/manifest';
import { coversTool, parseToolScope } from '@behest/protocol/tool-scopes';
import type { Context } from '../context.ts';
import type { Change } from './plan.ts';

export interface Affected {
  readonly tool: string;
  readonly grants: number;
  /** The ids of the agents. */
  readonly agents: readonly string[];
}

/** Counts the live grants whose calls of a tool would change from allow to deny, by its permission alone. */
export async function affectedGrants(
  context: Context,
  after: Manifest,
  changes: readonly Change[],
): Promise<Affected[]> {
  const losing = changes.filter(
    ({ member, effect }) => effect === 'tighter' && (member === undefined || member === 'permission'),
  );
  if (losing.length === 0) return [];
  const client = await context.client();
  const found = losing.map(({ tool, before }) => ({
    tool,
    level: levelIn(before),
    grants: 0,
    agents: new Set<string>(),
  }));
  for await (const { agentId, scopes } of client.grants.list({ status: 'active', limit: 500 })) {
    for (const each of found) {
      const now = after.tools.get(each.tool)?.permission;
      const isLost =
        covers(scopes, after.connector, each.level) && !(now && covers(scopes, after.connector, now));
      if (!isLost) continue;
      each.grants += 1;
      each.agents.add(agentId);
    }
  }
  return found
    .filter(({ grants }) => grants > 0)
    .map(({ tool, grants, agents }) => ({ tool, grants, agents: [...agents] }));
}

const levelIn = (before: unknown): string =>
  typeof before === 'string' ? before : String(Object(before).permission);

function covers(scopes: readonly string[], connector: string, level: string): boolean {
  const wanted = parseToolScope(`tool:${connector}:${level}`);
  // A scope with a resource or a cap covers some calls, and those may be lost.
  return scopes.some((scope) => {
    const wide = parseToolScope(scope);
    return (
      wide !== undefined &&
      wanted !== undefined &&
      coversTool({ connector: wide.connector, level: wide.level }, wanted)
    );
  });
}

import { isWithin as areRulesWithin } from '@behest/protocol/arguments/within';
import { canonicalJson } from '@behest/protocol/canonical-json';
import type { ManifestTool } from '@behest/protocol/manifest/manifest';
import { isSaidAlike, isWider } from '@behest/protocol/manifest/pins';
import {
  isWithin,
  namedConnectors,
  parseToolScope,
  reachesConnector,
  toolLevels,
} from '@behest/protocol/tool-scopes';
import { type CapWindow, capWindows, type ToolsEntry } from '@behest/protocol/tools-entry';
import { type Change, type DiffItem, ordered, type Terms } from './diff.rules.ts';
import type { Say } from './diff-words.rules.ts';

/** Compares the limits of each connector that both consents reach. The scopes tell of the others. */
export function diffOfTools(before: Terms, after: Terms, say: Say): DiffItem[] {
  const named = [...before.entries, ...after.entries].map(({ connector }) => connector);
  return [...new Set(named)]
    .filter((connector) => [before, after].every(({ scopes }) => reachesConnector(scopes, connector)))
    .flatMap((connector) => {
      const [was, is] = [before, after].map(({ entries }) =>
        entries.find((one) => one.connector === connector),
      );
      return [
        ...diffOfLists(connector, [was?.tools, is?.tools], say),
        ...diffOfCaps(connector, [was?.caps, is?.caps], say),
        ...diffOfRules(connector, [was?.arguments, is?.arguments], say),
        ...diffOfRegion(connector, [was?.data_region ?? null, is?.data_region ?? null], say),
      ];
    });
}

type Pair<Of> = readonly [before: Of, after: Of];

const listed = (names: readonly string[] | undefined) => names?.join(' ') ?? null;

function diffOfLists(
  connector: string,
  [before, after]: Pair<readonly string[] | undefined>,
  say: Say,
): DiffItem[] {
  if (!before && !after) return [];
  const about = { dimension: 'tools', connector, before: listed(before), after: listed(after) } as const;
  if (before && after) {
    const isIn = (names: readonly string[]) => (name: string) =>
      names.some((pattern) => isWithin(pattern, name));
    const added = after.filter((name) => !isIn(before)(name));
    const fewer = before.filter((name) => !isIn(after)(name));
    const each = added.map(
      (key): DiffItem => ({ ...about, change: 'wider', key, text: say.tool(connector, key) }),
    );
    if (fewer.length === 0) return each.length > 0 ? each : [{ ...about, ...say.tools(connector, 'same') }];
    return [...each, { ...about, ...say.tools(connector, 'narrower', fewer) }];
  }
  return [{ ...about, ...say.tools(connector, after ? 'narrower' : 'wider') }];
}

function diffOfCaps(connector: string, [before = {}, after = {}]: Pair<ToolsEntry['caps']>, say: Say) {
  const tools = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return tools.flatMap((tool) =>
    capWindows.flatMap((window) => {
      const [was, is] = [capOf(before, tool, window), capOf(after, tool, window)];
      if (was === undefined && is === undefined) return [];
      const change: Change = is === undefined ? 'wider' : was === undefined ? 'narrower' : ordered(was, is);
      const item: DiffItem = {
        dimension: 'caps',
        change,
        connector,
        key: `${tool} ${window}`,
        before: was === undefined ? null : String(was),
        after: is === undefined ? null : String(is),
        text: say.cap({ connector, tool, window }, change, [was, is]),
      };
      return [item];
    }),
  );
}

function capOf(caps: NonNullable<ToolsEntry['caps']>, tool: string, window: CapWindow): number | undefined {
  return Object.hasOwn(caps, tool) ? caps[tool]?.[window] : undefined;
}

function diffOfRules(connector: string, [before = {}, after = {}]: Pair<ToolsEntry['arguments']>, say: Say) {
  const tools = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return tools.map((tool): DiffItem => {
    const was = Object.hasOwn(before, tool) ? before[tool] : undefined;
    const is = Object.hasOwn(after, tool) ? after[tool] : undefined;
    const [text, now] = [was, is].map((rules) => (rules === undefined ? null : canonicalJson(rules)));
    const change: Change = text === now ? 'same' : areRulesWithin(is, was) ? 'narrower' : 'wider';
    return {
      dimension: 'arguments',
      change,
      connector,
      key: tool,
      before: text ?? null,
      after: now ?? null,
      text: say.rules({ connector, tool }, change),
    };
  });
}

function diffOfRegion(connector: string, [before, after]: Pair<string | null>, say: Say): DiffItem[] {
  if (before === null && after === null) return [];
  const change: Change = before === after ? 'same' : 'changed';
  return [
    {
      dimension: 'data_region',
      change,
      connector,
      before,
      after,
      text: say.region(connector, change, [before, after]),
    },
  ];
}

/** Compares the tools that the request reaches with those to which the person agreed. */
export function diffOfManifests(before: Terms, after: Terms, say: Say): DiffItem[] {
  const both = namedConnectors(after.scopes).filter((name) => reachesConnector(before.scopes, name));
  return both.flatMap((connector) => {
    const [was, is] = [before.manifests.get(connector), after.manifests.get(connector)];
    if (!was && !is) return [];
    const whole = {
      dimension: 'manifest',
      connector,
      before: was?.sha256 ?? null,
      after: is?.sha256 ?? null,
    } as const;
    if (was?.sha256 === is?.sha256) return [{ ...whole, ...say.manifest(connector, 'same') }];
    if (!was?.tools || !is?.tools) return [{ ...whole, ...say.manifest(connector, 'changed') }];
    const names = [...new Set([...is.tools.keys(), ...was.tools.keys()])];
    return names.flatMap((name): DiffItem[] => {
      const [old, now] = [was.tools?.get(name), is.tools?.get(name)];
      const change = changeOfTool(old, now);
      const permission = (now ?? old)?.permission;
      if (!change || !permission || !reaches(after, { connector, name, permission })) return [];
      return [{ ...whole, change, key: name, text: say.manifestTool(connector, name, change) }];
    });
  });
}

function changeOfTool(old: ManifestTool | undefined, now: ManifestTool | undefined): Change | undefined {
  if (!old) return 'new';
  if (!now) return 'removed';
  if (isWider(old, now)) return 'wider';
  if (isWider(now, old)) return 'narrower';
  return isSaidAlike(old, now) ? undefined : 'changed';
}

interface Tool {
  readonly connector: string;
  readonly name: string;
  readonly permission: ManifestTool['permission'];
}

/** Whether the scopes and the entry of a request allow any call of a tool. */
function reaches({ scopes, entries }: Terms, { connector, name, permission }: Tool): boolean {
  const tools = entries.find((entry) => entry.connector === connector)?.tools;
  if (tools && !tools.some((pattern) => isWithin(pattern, name))) return false;
  return scopes.some((scope) => {
    const tool = parseToolScope(scope);
    if (!tool || (tool.connector !== '*' && tool.connector !== connector)) return false;
    return toolLevels.indexOf(permission) <= toolLevels.indexOf(tool.level);
  });
}

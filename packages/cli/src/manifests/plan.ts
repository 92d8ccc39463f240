import { isWithin } from '@behest/protocol/arguments/within';
import type { Manifest, ManifestTool } from '@behest/protocol/manifest/manifest';
import { isWider } from '@behest/protocol/manifest/pins';
import { toolLevels } from '@behest/protocol/tool-scopes';

/** A difference between two manifests, in words. */
export interface Change {
  readonly tool: string;
  /** The member of the tool; absent where the whole tool came or went. */
  readonly member?: keyof ManifestTool;
  readonly effect: 'tighter' | 'looser' | 'neutral';
  readonly before?: unknown;
  readonly after?: unknown;
  readonly words: string;
}

const MEMBERS: readonly (keyof ManifestTool)[] = [
  'permission',
  'allowed_purposes',
  'caps',
  'cost_units',
  'requires_decision',
  'four_eyes_on',
  'arguments',
  'mcp_pins',
  'title',
  'description',
  'argument_titles',
  'titles',
  'binds',
];
const NAMES: Readonly<Partial<Record<keyof ManifestTool, string>>> = {
  allowed_purposes: 'the allowed purposes',
  caps: 'the caps',
  cost_units: 'the cost units',
  four_eyes_on: 'the decisions of two people',
  arguments: 'the rules of arguments',
  mcp_pins: 'the pins',
  title: 'the title',
  description: 'the description',
  argument_titles: 'the titles of arguments',
  titles: 'the words in other languages',
  binds: 'the arguments that a decision binds',
};

/** Says what changes between two manifests of one connector, tool by tool. */
export function changesBetween(before: Manifest, after: Manifest): Change[] {
  const names = [...new Set([...before.tools.keys(), ...after.tools.keys()])].toSorted();
  return names.flatMap((tool): Change[] => {
    const [old, now] = [before.tools.get(tool), after.tools.get(tool)];
    if (!old && now)
      return [{ tool, effect: 'looser', after: now, words: `added, with permission ${now.permission}` }];
    if (old && !now)
      return [{ tool, effect: 'tighter', before: old, words: 'removed: every call of it will be denied' }];
    return old && now ? MEMBERS.flatMap((member) => changeOf(tool, member, old, now) ?? []) : [];
  });
}

function changeOf(
  tool: string,
  member: keyof ManifestTool,
  old: ManifestTool,
  now: ManifestTool,
): Change | undefined {
  const [before, after] = [old[member], now[member]];
  if (JSON.stringify(before) === JSON.stringify(after)) return undefined;
  const shared = {
    tool,
    member,
    ...(before !== undefined && { before }),
    ...(after !== undefined && { after }),
  };
  return { ...shared, effect: effectOf(member, old, now), words: wordsOf(member, old, now) };
}

/** The effect of one member alone: everything else is as it was. */
function effectOf(member: keyof ManifestTool, old: ManifestTool, now: ManifestTool): Change['effect'] {
  const alone = (from: ManifestTool, to: ManifestTool): ManifestTool => {
    const { [member]: _, ...rest } = from;
    // Every tool has a permission, so that of the other is taken.
    return {
      ...rest,
      permission: member === 'permission' ? to.permission : from.permission,
      ...(to[member] !== undefined && { [member]: to[member] }),
    };
  };
  if (member === 'permission') {
    // A call needs more than before, so fewer tokens reach it.
    return toolLevels.indexOf(now.permission) > toolLevels.indexOf(old.permission) ? 'tighter' : 'looser';
  }
  if (member === 'arguments') {
    const [isNarrower, isWiderNow] = [
      isWithin(now.arguments, old.arguments),
      isWithin(old.arguments, now.arguments),
    ];
    if (isNarrower && isWiderNow) return 'neutral';
    return isNarrower ? 'tighter' : 'looser';
  }
  if (isWider(old, alone(old, now))) return 'looser';
  return isWider(now, alone(now, old)) ? 'tighter' : 'neutral';
}

function wordsOf(member: keyof ManifestTool, old: ManifestTool, now: ManifestTool): string {
  if (member === 'permission') {
    const isRaised = toolLevels.indexOf(now.permission) > toolLevels.indexOf(old.permission);
    return `permission ${isRaised ? 'raised' : 'lowered'} from ${old.permission} to ${now.permission}`;
  }
  if (member === 'requires_decision')
    return now.requires_decision
      ? 'a person has to decide about each call'
      : 'nobody has to decide any longer';
  const [before, after] = [old[member], now[member]];
  const name = NAMES[member] ?? member;
  if (before === undefined) return `${name} are new: ${JSON.stringify(after)}`;
  if (after === undefined) return `${name} are gone: ${JSON.stringify(before)}`;
  return `${name} change from ${JSON.stringify(before)} to ${JSON.stringify(after)}`;
}

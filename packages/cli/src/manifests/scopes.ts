import type { Manifest } from '@behest/protocol/manifest/manifest';
import { toolLevels } from '@behest/protocol/tool-scopes';
import type { Context } from '../context.ts';
import { wrongUsage } from '../errors.ts';

/** The narrowest scope that allows all of these tools: a level includes those below it. */
export function scopesFor(
  context: Context,
  { connector, tools }: Manifest,
  names: readonly string[],
): string[] {
  const unknown = names.filter((name) => !tools.has(name));
  if (unknown.length > 0) throw wrongUsage(`The manifest has no tool ${unknown.join(', ')}.`, context.help);
  const levels = names.map((name) => toolLevels.indexOf(tools.get(name)?.permission ?? 'admin'));
  return levels.length === 0 ? [] : [`tool:${connector}:${toolLevels[Math.max(...levels)]}`];
}

import { AUTHORIZE } from './groups/authorize.ts';
import { ENFORCE } from './groups/enforce.ts';
import { OBSERVE } from './groups/observe.ts';
import { OPERATE } from './groups/operate.ts';
import { START } from './groups/start.ts';
import type { CommandSpec, Group } from './spec.ts';

/** The sections of the help, in its order. */
export const SECTIONS: readonly { readonly name: string; readonly groups: readonly Group[] }[] = [
  { name: 'Start', groups: START },
  { name: 'Authorize', groups: AUTHORIZE },
  { name: 'Enforce', groups: ENFORCE },
  { name: 'Observe', groups: OBSERVE },
  { name: 'Operate', groups: OPERATE },
];

export const GROUPS: readonly Group[] = SECTIONS.flatMap(({ groups }) => groups);

/** Loads the commands of a group. */
export async function commandsOf(group: Group): Promise<CommandSpec[]> {
  const own = (await group.load?.()) ?? [];
  if (!group.hasOperations) return [...own];
  const { apiCommands } = await import('../api/specs.ts');
  return [...own, ...apiCommands(group.name)];
}

export const allCommands = async (): Promise<CommandSpec[]> =>
  (await Promise.all(GROUPS.map(commandsOf))).flat();

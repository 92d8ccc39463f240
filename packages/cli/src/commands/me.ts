import { BODY_OPTION, membersOf, optionsOf } from '../api/fields.ts';
import { rowOf } from '../api/specs.ts';
import { wrongUsage } from '../errors.ts';
import type { CommandSpec } from '../program/spec.ts';

const SETTINGS = rowOf('developers.change').body ?? [];

export const ME: readonly CommandSpec[] = [
  {
    name: 'me',
    summary: 'Show the account of the key',
    examples: ['behest me', 'behest me --json'],
    operation: 'developers.me',
    run: async (context) => context.one(await (await context.client()).me()),
  },
  {
    name: 'me update',
    summary: 'Change the settings of the account',
    examples: ['behest me update --manifest-pinning warn', 'behest me update -f settings.yaml'],
    operation: 'developers.change',
    options: [...SETTINGS.flatMap(optionsOf), BODY_OPTION],
    async run(context, given) {
      const settings = await membersOf(context, given, SETTINGS, true);
      if (Object.keys(settings).length === 0) throw wrongUsage('Give at least one setting.', context.help);
      await context.one(await (await context.client()).updateSettings(settings));
    },
  },
];

import { play } from '../demo/play.ts';
import { isSet } from '../program/options.ts';
import type { CommandSpec } from '../program/spec.ts';

export const DEMO: readonly CommandSpec[] = [
  {
    name: 'demo',
    isLocal: true,
    summary: 'Play the life of a grant against the service, in about twenty lines',
    notes: 'It needs the key of a sandbox account, and removes its agents afterwards.',
    examples: ['behest demo', 'behest demo --keep'],
    options: [{ flags: '--keep', about: 'leave the agents in the account' }],
    run: async (context, given) => play(context, isSet(given, 'keep')),
  },
];

import type { CommandSpec } from '../program/spec.ts';
import { openIfThere } from '../system/pages.ts';

export const CONSOLE: readonly CommandSpec[] = [
  {
    name: 'console',
    summary: 'Open the console of the service in the browser',
    notes: 'The first sign-in asks for an API key with the role full. A service may have no console.',
    examples: ['behest console', 'behest --profile staging console'],
    run: (context) => openIfThere(context, '/console', 'console'),
  },
];

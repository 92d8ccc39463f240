import type { CommandSpec } from '../program/spec.ts';

const ID = [{ name: 'id', about: 'the id of the agent' }];

export const AGENTS: readonly CommandSpec[] = [
  {
    name: 'agents suspend',
    summary: 'Suspend an agent: its tokens are refused until it is reactivated',
    args: ID,
    examples: ['behest agents suspend <id>'],
    run: async (context, { args: [id = ''] }) =>
      context.one(await (await context.client()).agents.suspend(id)),
  },
  {
    name: 'agents reactivate',
    summary: 'Let a suspended agent work again',
    args: ID,
    examples: ['behest agents reactivate <id>'],
    run: async (context, { args: [id = ''] }) =>
      context.one(await (await context.client()).agents.reactivate(id)),
  },
];

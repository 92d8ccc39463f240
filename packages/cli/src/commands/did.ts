import type { CommandSpec } from '../program/spec.ts';

export const DID: readonly CommandSpec[] = [
  {
    name: 'did get',
    summary: 'Resolve a DID',
    operation: 'dids.resolve',
    args: [{ name: 'did', about: 'such as did:web:auth.example.com' }],
    examples: ['behest did get did:web:auth.example.com'],
    run: async (context, { args: [did = ''] }) =>
      context.one(await (await context.openClient()).dids.resolve(did)),
  },
];

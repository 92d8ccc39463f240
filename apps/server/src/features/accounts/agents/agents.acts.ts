import { act, type DataOf } from '../../../platform/acts.ts';

interface Named {
  readonly name: string;
}

export const acts = {
  'agent.created': act<Named>(),
  'agent.updated': act<Named & { readonly changed: readonly string[] }>(),
  'agent.suspended': act<Named>(),
  'agent.resumed': act<Named>(),
  'agent.revoked': act<Named & { readonly revokedGrants: number }>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}

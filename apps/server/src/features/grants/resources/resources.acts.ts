import { act, type DataOf } from '../../../platform/acts.ts';

interface Named {
  readonly resourceId: string;
  readonly resource: string;
}

export const acts = {
  'resource.created': act<Named>(),
  'resource.updated': act<Named>(),
  'resource.deleted': act<Named>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}

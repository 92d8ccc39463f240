import { act, type DataOf } from '../../../platform/acts.ts';

interface OfWorkload {
  readonly workloadId: string;
  readonly issuer: string;
}

export const acts = {
  'agent.workload.created': act<OfWorkload>(),
  'agent.workload.deleted': act<OfWorkload>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}

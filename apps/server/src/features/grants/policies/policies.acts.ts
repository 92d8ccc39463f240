import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';

interface Change {
  readonly from: unknown;
  readonly to: unknown;
}

export const acts = {
  'policy.created': act<{ readonly policyId: string; readonly policy: Readonly<Record<string, unknown>> }>(),
  'policy.updated': act<{
    readonly policyId: string;
    readonly version: number;
    readonly changes: Readonly<Record<string, Change>>;
  }>(),
  'policy.deleted': act<{ readonly policyId: string; readonly policy: Readonly<Record<string, unknown>> }>(),
};

/** Refused attempts. A request that a policy stops before there is a grant is `authorization.blocked`. */
export const entries = {
  'authorization.blocked': entryOnly(),
  'policy.denied': entryOnly(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Attempts {
    'authorization.blocked': true;
    'policy.denied': true;
  }
}

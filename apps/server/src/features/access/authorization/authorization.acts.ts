import { act, type DataOf } from '../../../platform/acts.ts';

interface OfRequest {
  readonly authRequestId: string;
}

export const acts = {
  'authorization.requested': act<OfRequest & { readonly scopes: readonly string[] }>(),
  'authorization.approved': act<
    OfRequest & {
      readonly scopes: readonly string[];
      readonly method: string;
      readonly narrowed: boolean;
      readonly unverified?: true;
      /** The policy that approved in the person's place. */
      readonly policyId?: string;
    }
  >(),
  'authorization.denied': act<OfRequest & { readonly reason?: string }>(),
  'authorization.cancelled': act<OfRequest>(),
  'authorization.expired': act<OfRequest>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}

import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';

interface OfRequest {
  readonly authRequestId: string;
}

export const acts = {
  'authorization.requested': act<
    OfRequest & {
      readonly scopes: readonly string[];
      /** The client polls for the decision, and the developer tells the person of a `ciba` request. */
      readonly channel?: 'device' | 'ciba';
      /** The grant that ends when the new one begins. */
      readonly replacesGrantId?: string;
    }
  >(),
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

/** A request or a delegation for scopes beyond those of the agent or of the parent grant. */
export const entries = { 'authorization.scope_refused': entryOnly() };

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Attempts {
    'authorization.scope_refused': true;
  }
}

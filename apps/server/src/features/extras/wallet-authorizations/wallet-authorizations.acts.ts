import { act, type DataOf } from '../../../platform/acts.ts';

interface OfAuthorization {
  readonly authorizationId: string;
}

export const acts = {
  'wallet.authorization.issued': act<OfAuthorization>(),
  'wallet.authorization.consumed': act<OfAuthorization>(),
  'wallet.authorization.revoked': act<OfAuthorization>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}

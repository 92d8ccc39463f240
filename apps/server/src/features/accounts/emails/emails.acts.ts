import { act, type DataOf } from '../../../platform/acts.ts';

/** The address itself stays out, because entries are kept when an account is erased. */
export const acts = {
  'developer.email_verified': act<{ readonly verificationId: string }>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}

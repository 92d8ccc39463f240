import { act, type DataOf } from '../../../platform/acts.ts';
import type { Role } from '../../../platform/caller.ts';

interface DescribedKey {
  readonly keyId: string;
  readonly name: string;
  readonly role: Role;
  /** Present when the key is bound. */
  readonly agentIds?: readonly string[];
}

interface Stopped {
  readonly reason?: string;
}

export const acts = {
  'developer.created': act<{ readonly mode: 'live' | 'sandbox' }>(),
  'developer.updated': act<{ readonly changed: readonly string[] }>(),
  'developer.closed': act<{ readonly erasedAfter: string }>(),
  /** Every agent and grant of the account rests until it is resumed. */
  'account.stopped': act<Stopped>(),
  'account.resumed': act<{ readonly stoppedAt: string }>(),
  'apikey.created': act<DescribedKey>(),
  'apikey.rotated': act<DescribedKey>(),
  'apikey.revoked': act<DescribedKey>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}

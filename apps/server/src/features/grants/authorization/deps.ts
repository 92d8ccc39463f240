import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import type { DecideDeps } from '../policies/index.ts';
import type { Lifetimes } from './authorization.rules.ts';

export interface AuthorizationDeps extends DecideDeps {
  readonly store: EphemeralStore;
  readonly lifetimes: Lifetimes;
  /** Without a trailing slash. */
  readonly publicBaseUrl: string;
  /** Whether a live developer must set up a proof of its principals before it may ask them for consent. */
  readonly principalProof: 'required' | 'optional';
  /** Whether consent links name the developer's verified domain. */
  readonly linksToDomains: boolean;
}

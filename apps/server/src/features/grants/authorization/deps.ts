import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { hook } from '../../../platform/hooks.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import type { DecideDeps } from '../policies/index.ts';
import type { Lifetimes } from './authorization.rules.ts';

/** The demands of single sign-on on people who consent. */
export interface SignOnRules {
  /** @throws CONFLICT for an account whose people sign in at a provider, and that has no active connection */
  mustHaveActiveConnection(db: Executor, tenant: Tenant): Promise<void>;
  isEnforced(db: Executor, tenant: Tenant): Promise<boolean>;
  isEnforcedFor(db: Executor, tenant: Tenant, principalId: string): Promise<boolean>;
}

export const signOnRules = hook<SignOnRules>('sign-on rules');

export interface AuthorizationDeps extends DecideDeps {
  readonly signOn: SignOnRules;
  readonly store: EphemeralStore;
  readonly lifetimes: Lifetimes;
  /** Without a trailing slash. */
  readonly publicBaseUrl: string;
  /** Whether a live developer must set up a proof of its principals before it may ask them for consent. */
  readonly principalProof: 'required' | 'optional';
  /** Whether consent links name the developer's verified domain. */
  readonly linksToDomains: boolean;
}

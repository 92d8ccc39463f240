import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';

/** A person whom the developer's identity provider has told the service about. */
export interface Person {
  readonly userId: string;
  readonly principalId: string;
  readonly isActive: boolean;
}

/** The provisioned people of a developer, as far as a login asks for them. */
export interface People {
  byId(db: Executor, tenant: Tenant, userId: string): Promise<Person | undefined>;
  byExternalId(db: Executor, tenant: Tenant, externalId: string): Promise<Person | undefined>;
  /** By user name or primary address, without regard to case. */
  byAddress(db: Executor, tenant: Tenant, address: string): Promise<Person | undefined>;
}

/** Until people are provisioned, every login is that of a stranger. */
export const nobodyProvisioned: People = {
  byId: async () => undefined,
  byExternalId: async () => undefined,
  byAddress: async () => undefined,
};

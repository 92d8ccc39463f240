import type { Tenant } from './caller.ts';

/** The kinds of requests that are counted for developers. */
export type Metered = 'tokenExchanges' | 'authorizations' | 'verifications' | 'proxyCalls';

/** Counts one request. Never waits and never fails. */
export type CountUse = (tenant: Tenant, kind: Metered) => void;

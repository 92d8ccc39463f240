import { Behest, BehestAdmin } from '@behest/sdk';
import { type Possessions, possessionsOf } from '../../../apps/server/test/app/every-route.ts';
import { grantTo } from '../../../apps/server/test/app/flow.ts';
import type { startListening } from '../../../apps/server/test/app/listening.ts';
import { ADMIN_API_KEY, type Developer } from '../../../apps/server/test/app/start-app.ts';

/** The address that the samples are made for. Requests to it go to the port of the test. */
export const PUBLIC_URL = 'https://auth.test';

type Listening = Awaited<ReturnType<typeof startListening>>;

/** The clients of an account and of the operator, and the credentials of those who call without an API key. */
export interface Clients {
  readonly behest: Behest;
  readonly admin: BehestAdmin;
  readonly grantToken: string;
  readonly sessionToken: string;
  readonly scimToken: string;
}

/** An account with one record of each kind. */
export interface World extends Clients {
  readonly service: Listening;
  readonly acme: Developer;
  readonly its: Possessions;
  /** Callers whose credentials the service does not know. */
  readonly strangers: Clients;
}

export async function newWorld(service: Listening): Promise<World> {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const its = await possessionsOf(acme);
  const { grantToken } = await grantTo(acme, {
    scopes: ['vault:github:read', 'vault:github:proxy', 'vault:files:read'],
  });
  const options = {
    baseUrl: PUBLIC_URL,
    fetch: (url: string, init: RequestInit) => fetch(url.replace(PUBLIC_URL, service.url), init),
    maxRetries: 0,
  };
  const clientsOf = (apiKey: string, adminKey: string) => ({
    behest: new Behest({ ...options, apiKey, allowSandbox: true }),
    admin: new BehestAdmin({ ...options, adminKey }),
  });
  const nobodysKey = `bh_test_${'x'.repeat(43)}`;
  return {
    ...{ service, acme, its, grantToken },
    ...clientsOf(acme.apiKey, ADMIN_API_KEY),
    ...{ sessionToken: String(its.sessionToken), scimToken: String(its.scimToken) },
    strangers: {
      ...clientsOf(nobodysKey, 'x'.repeat(40)),
      ...{ grantToken: 'e30.e30.e30', sessionToken: 'e30.e30.e30', scimToken: `bh_scim_${'A'.repeat(43)}` },
    },
  };
}

/** A method that is not made from the table. The compiler checks its arguments here. */
export interface OwnCase {
  /** The operation whose description the answer has to fit. */
  readonly answers?: string;
  good(world: World): Promise<unknown>;
  /** A call that the service, or the method itself, refuses with an error of the SDK. */
  refused(world: World): Promise<unknown>;
}

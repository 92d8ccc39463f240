import { Behest } from '@behest/sdk';
import { afterAll, beforeAll } from 'vitest';
import { startListening } from '../../apps/server/test/app/listening.ts';
import { type Machine, newMachine } from './program.ts';

/** A service for the tests of a file. Its clock starts now. */
export function useService(): { readonly url: string } {
  let service: Awaited<ReturnType<typeof startListening>>;
  beforeAll(async () => {
    service = await startListening({ isShared: true, startsAt: new Date().toISOString() });
  });
  afterAll(async () => {
    service?.app.server.closeAllConnections();
    await service?.stop();
  });
  return {
    get url() {
      return service.url;
    },
  };
}

/** A service with a sandbox account. `signedIn` gives a machine that has the account's key. */
export function useAccount(): { readonly url: string; readonly apiKey: string; signedIn(): Machine } {
  const service = useService();
  let apiKey: string;
  beforeAll(async () => {
    ({ apiKey } = await Behest.signup({ name: 'Acme', mode: 'sandbox' }, { baseUrl: service.url }));
  });
  return {
    get url() {
      return service.url;
    },
    get apiKey() {
      return apiKey;
    },
    signedIn: () => newMachine({ BEHEST_URL: service.url, BEHEST_API_KEY: apiKey }),
  };
}

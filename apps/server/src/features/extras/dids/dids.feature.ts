import { defineFeature } from '../../../feature.ts';
import { documentFetcher } from './dids.fetch.service.ts';
import { rates } from './dids.rates.ts';
import { didRoutes } from './dids.routes.ts';
import { settings } from './dids.settings.ts';

/** One document of another host, with its time limit in milliseconds. */
const BOUNDS = { timeoutMilliseconds: 5000, mostBytes: 65_536 };

export const dids = defineFeature({
  name: 'dids',
  tags: { dids: 'Resolution of decentralised identifiers.' },
  rates,
  settings,
  open(house, { DID_RESOLVE_WEB }) {
    const egress = () => house.openEgress({ allowsHttp: false, allowsPrivateHosts: false }, BOUNDS);
    const fetchDocument = DID_RESOLVE_WEB
      ? documentFetcher({ egress: egress(), clock: house.clock })
      : undefined;
    return { routes: (app) => app.register(didRoutes, { ...house, fetchDocument }) };
  },
});

import { boolean } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';
import { defineFeature } from '../../../feature.ts';
import { didRoutes, rates } from './dids.routes.ts';
import { documentFetcher } from './resolve.ts';

const settings = {
  DID_RESOLVE_WEB: defaulted(
    boolean,
    'false',
    'Whether `GET /v1/dids/:id` fetches the documents of other hosts’ `did:web`. Anybody may call that route.',
  ),
};

/** One document of another host, with its time limit in milliseconds. */
const BOUNDS = { timeoutMilliseconds: 5000, mostBytes: 65_536 };

export const dids = defineFeature({
  name: 'dids',
  tags: { dids: 'Resolution of decentralised identifiers.' },
  rates,
  settings,
  open(context, { DID_RESOLVE_WEB }) {
    const egress = () => context.openEgress({ allowsHttp: false, allowsPrivateHosts: false }, BOUNDS);
    const fetchDocument = DID_RESOLVE_WEB
      ? documentFetcher({ egress: egress(), clock: context.clock })
      : undefined;
    return { routes: (app) => didRoutes(app, { ...context, fetchDocument }) };
  },
});

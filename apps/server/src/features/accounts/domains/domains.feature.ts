import { commaList } from '../../../config/readers.ts';
import { optional } from '../../../config/setting.ts';
import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { isNameServer, txtReader } from '../../../platform/egress/txt-records.ts';
import { on } from '../../../platform/hooks.ts';
import { accountClosed } from '../developers/index.ts';
import { acts } from './domains.acts.ts';
import { checksOfDomains } from './domains.jobs.ts';
import { quotas } from './domains.quotas.ts';
import { rates } from './domains.rates.ts';
import { eraseDomains } from './domains.repo.ts';
import { domainRoutes } from './domains.routes.ts';
import { removeDomains, servesHost } from './domains.service.ts';
import { tables } from './domains.tables.ts';

export const domains = defineFeature({
  name: 'domains',
  tags: { domains: 'Domains that developers have proved to be theirs.' },
  tables,
  acts,
  quotas,
  rates,
  settings: {
    DNS_RESOLVERS: optional(
      commaList('a list of `IP` or `IP:port`, an IPv6 address with a port in brackets', (entry) =>
        isNameServer(entry) ? entry : undefined,
      ),
      'those of the system',
      'The name servers that are asked for the records of custom domains.',
    ),
  },
  listens: [on(accountClosed, removeDomains), on(tenantErased, eraseDomains)],
  open(house, settings) {
    const deps = { ...house, readTxt: txtReader(settings.DNS_RESOLVERS) };
    return {
      routes: (app) => app.register(domainRoutes, deps),
      servesHost: (host) => servesHost(deps, host),
      jobs: [checksOfDomains(deps)],
    };
  },
});

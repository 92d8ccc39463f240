import { commaList } from '../../../config/readers.ts';
import { optional } from '../../../config/setting.ts';
import { defineFeature } from '../../../feature.ts';
import { act, type DataOf } from '../../../platform/acts.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { isNameServer, txtReader } from '../../../platform/egress/dns.ts';
import { on } from '../../../platform/hooks.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import type { QuotaDeclarations } from '../../../platform/quotas.ts';
import { accountClosed } from '../developers/index.ts';
import { eraseDomains } from './domains.repo.ts';
import { domainRoutes, rates } from './domains.routes.ts';
import { deleteForgotten, removeDomains, servesHost } from './manage.ts';
import { type CheckDeps, checkDomains } from './verify.ts';

const tables: TableUse = {
  owns: { custom_domains: { quota: 'domains' }, verified_domains: { of: 'custom_domains' } },
  reads: [],
  writes: [],
};

const quotas = {
  domains: { free: 1, pro: 5, enterprise: 'unlimited', describes: 'custom domains' },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}

const EVERY_SECONDS = 3600;

function checksOfDomains(deps: CheckDeps): Job {
  return {
    name: 'checks of domains',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      while (!signal.aborted && (await checkDomains(deps)) > 0);
      while (!signal.aborted && (await deleteForgotten(deps)) > 0);
    },
  };
}

interface OfDomain {
  readonly domainId: string;
  readonly domain: string;
}

const acts = {
  'domain.created': act<OfDomain>(),
  'domain.verified': act<OfDomain>(),
  'domain.lapsed': act<OfDomain>(),
  'domain.deleted': act<OfDomain>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}

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
  open(context, settings) {
    const deps = { ...context, readTxt: txtReader(settings.DNS_RESOLVERS) };
    return {
      routes: (app) => domainRoutes(app, deps),
      servesHost: (host) => servesHost(deps, host),
      jobs: [checksOfDomains(deps)],
    };
  },
});

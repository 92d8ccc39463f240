import { act, type DataOf } from '../../../platform/acts.ts';

interface OfDomain {
  readonly domainId: string;
  readonly domain: string;
}

export const acts = {
  'domain.created': act<OfDomain>(),
  'domain.verified': act<OfDomain>(),
  'domain.lapsed': act<OfDomain>(),
  'domain.deleted': act<OfDomain>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}

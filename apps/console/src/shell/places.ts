import { defaultStringifySearch } from '@tanstack/react-router';
import type { Schemas } from '../api/client.ts';

type Found = Schemas['SearchResults']['results'][number];

const shown = (page: string) => (id: string) => `/console/${page}/${encodeURIComponent(id)}`;
const agent = shown('agents');
const grant = shown('grants');
const entry = shown('audit');
const person = shown('people');
const policy = shown('policies');
const webhook = shown('webhooks');
const decision = shown('decisions');
const anomaly = shown('anomalies');

/** The pages of the kinds of records that have one. A token is shown with its grant, a credential with its person. */
const PAGES = {
  agent: ({ id }) => agent(id),
  grant: ({ id }) => grant(id),
  entry: ({ id }) => entry(id),
  policy: ({ id }) => policy(id),
  principal: ({ id }) => person(id),
  token: ({ title }) => grant(title),
  credential: ({ hint }) => person(hint),
  request: ({ title }) => `/console/requests${defaultStringifySearch({ principalId: title })}`,
  key: () => '/console/keys',
  decision: ({ id }) => decision(id),
  anomaly: ({ id }) => anomaly(id),
  approver: () => '/console/approvers',
  webhook: ({ id }) => webhook(id),
  delivery: ({ id, hint }) => `${webhook(hint)}/${encodeURIComponent(id)}`,
} as const satisfies { readonly [Kind in Found['kind']]?: (found: Found) => string };

const hasPage = (kind: Found['kind']): kind is keyof typeof PAGES => Object.hasOwn(PAGES, kind);

/** @returns what was found and has a page, each page once, without those of `known` */
export function placesOf(found: readonly Found[], known?: string) {
  const seen = new Set<string | undefined>([known]);
  return found.flatMap((each) => {
    const { kind, title, hint } = each;
    if (!hasPage(kind)) return [];
    const href = PAGES[kind](each);
    if (seen.has(href)) return [];
    seen.add(href);
    return [{ kind, title, hint, href }];
  });
}

export const failedRequest = shown('denials/requests');

/** The service names a request by a UUID, if its sender has not. */
export const isRequestId = (id: string) => id.length === 36 && id.split('-').length === 5;

/** Ids whose prefix alone says which page is theirs, so that nobody waits for the search. */
const PREFIXES = [
  { prefix: 'ag_', kind: 'agent', page: agent },
  { prefix: 'grnt_', kind: 'grant', page: grant },
  { prefix: 'alog_', kind: 'entry', page: entry },
  { prefix: 'pol_', kind: 'policy', page: policy },
  { prefix: 'wh_', kind: 'webhook', page: webhook },
  { prefix: 'dec_', kind: 'decision', page: decision },
  { prefix: 'anm_', kind: 'anomaly', page: anomaly },
] as const;

/** @returns where a record is shown, if its id says so */
export function placeOf(id: string) {
  const place = PREFIXES.find(({ prefix }) => id.startsWith(prefix) && id.length > prefix.length + 8);
  return place && { kind: place.kind, href: place.page(id) };
}

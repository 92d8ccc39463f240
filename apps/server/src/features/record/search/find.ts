import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { findAgentsNamed } from '../../accounts/agents/agents.queries.ts';
import { listPrincipalsNamed } from '../../people/offboarding/offboarding.queries.ts';
import { type FoundRecord, findEntriesOfRequest, findRecord, type RecordKind } from './search.repo.ts';
import type { Kind, SearchQuery, SearchResults } from './search.schema.ts';

export interface SearchDeps {
  readonly db: Executor;
  readonly clock: Clock;
}

/** The prefix of each id names its kind. */
const KINDS: ReadonlyMap<string, RecordKind> = new Map(
  Object.entries({
    ag: 'agent',
    grnt: 'grant',
    tok: 'token',
    areq: 'request',
    dec: 'decision',
    alog: 'entry',
    key: 'key',
    pol: 'policy',
    wh: 'webhook',
    whd: 'delivery',
    vault: 'credential',
    anm: 'anomaly',
    apv: 'approver',
    sso: 'connection',
    scimuser: 'user',
  } as const),
);

/** Kinds that a `runtime` key may read by their own routes too. */
const OF_RUNTIME: ReadonlySet<Kind> = new Set<Kind>([
  'agent',
  'grant',
  'token',
  'request',
  'decision',
  'entry',
]);

const MOST = 20;
const OF_EACH = 10;

type Result = SearchResults['results'][number];

/** Finds what a text may mean, each kind by one look-up of its key or of the beginning of a name. */
export async function search({ db }: SearchDeps, caller: Caller, { q }: SearchQuery): Promise<SearchResults> {
  const text = q.trim();
  const kind = KINDS.get(text.slice(0, text.indexOf('_')));
  const isAll = caller.role === 'full';
  const exact = kind && (isAll || OF_RUNTIME.has(kind)) ? findRecord(db, caller, kind, text) : undefined;
  const did = text.startsWith('did:') ? text.slice(text.lastIndexOf(':') + 1) : undefined;
  const [found, named, agents, principals, entries] = await Promise.all([
    exact,
    did === undefined ? undefined : findRecord(db, caller, 'agent', did),
    findAgentsNamed(db, caller, text, OF_EACH),
    isAll ? listPrincipalsNamed(db, caller.tenant, text, OF_EACH) : [],
    findEntriesOfRequest(db, caller, text),
  ]);
  const results: Result[] = [
    ...(kind && found ? [shown(kind, found)] : []),
    ...(named ? [shown('agent', named)] : []),
    ...agents.map((agent) => shown('agent', agent)),
    ...principals.map(({ principalId, holds }) => ({
      ...{ kind: 'principal' as const, id: principalId, title: principalId },
      hint: holds.join(', '),
    })),
    ...entries.map((entry) => shown('entry', entry)),
  ];
  return { results: results.slice(0, MOST) };
}

const shown = (kind: Kind, { id, title, hint }: FoundRecord): Result => ({ kind, id, title, hint });

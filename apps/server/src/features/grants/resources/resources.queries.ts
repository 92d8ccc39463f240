import { canonicalResource, distinctResources } from '@behest/protocol/resource-uri';
import { scopeInWords } from '@behest/protocol/words';
import type { Mode, Plan, Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { lookUp } from '../../../platform/db/statement.ts';
import { type SaidByResource, type WordsOfScopes, wordsInForce } from './resources.rules.ts';

/** A resource that a client names. */
export interface NamedResource {
  readonly resource: string;
  readonly resourceId: string;
  readonly name: string;
  readonly scopes: string[];
  readonly loginUrl: string | null;
  readonly tokenTtlSeconds: number;
}

const named = lookUp<NamedResource, [developerId: string, resources: readonly string[]]>(
  'find_named_resources',
  `select r.resource, i.resource_id as "resourceId", r.name, r.scopes, r.login_url as "loginUrl",
     r.token_ttl_seconds as "tokenTtlSeconds"
   from resource_index i
     join resources r on r.developer_id = i.developer_id and r.id = i.resource_id
   where i.resource = any ($2) and i.developer_id = $1`,
);

/** Those of the URIs that this developer has registered, as it spells them, in no order. */
export const namedResources = (db: Executor, { developerId }: Tenant, resources: readonly string[]) =>
  named(db, developerId, distinctResources(resources));

const developerOf = lookUp<{ readonly developerId: string }, [resource: string]>(
  'find_resource_developer',
  'select developer_id as "developerId" from resource_index where resource = $1',
);

/** It takes no tenant by design: no two developers have one URI. */
export async function developerOfResourceAcrossTenants(
  db: Executor,
  resource: string,
): Promise<string | undefined> {
  return (await developerOf(db, canonicalResource(resource)))[0]?.developerId;
}

/** A resource, as far as it limits a token for it. */
export interface LimitingResource {
  readonly resource: string;
  /** Empty where the resource names none, which allows all. */
  readonly scopes: readonly string[];
  readonly dpopRequired: boolean;
  readonly tokenTtlSeconds: number;
}

const limiting = lookUp<LimitingResource, [developerId: string, resources: readonly string[]]>(
  'find_limiting_resources',
  `select r.resource, r.scopes, r.dpop_required as "dpopRequired", r.token_ttl_seconds as "tokenTtlSeconds"
   from resource_index i
     join resources r on r.developer_id = i.developer_id and r.id = i.resource_id
   where i.resource = any ($2) and i.developer_id = $1`,
);

/** Those of the URIs that this developer has registered, as it spells them, with their limits. */
export const limitingResources = (db: Executor, { developerId }: Tenant, resources: readonly string[]) =>
  limiting(db, developerId, distinctResources(resources));

const wordsOf = lookUp<SaidByResource, [developerId: string, scopes: readonly string[]]>(
  'find_scope_words',
  `select r.resource, said.key as scope, said.value as words
   from resources r
     join developers d on d.id = r.developer_id
     cross join jsonb_each(r.scope_words) as said
   where r.developer_id = $1 and r.scope_words ?| $2 and said.key = any ($2) and not d.scope_descriptions ? said.key
   order by r.id
   limit 1000`,
);

interface AskedScopes {
  readonly scopes: readonly string[];
  /** The URIs of resources, with blanks between them. */
  readonly audience: string | null;
}

/** What the developer's resources say about these scopes, where neither the account nor the service has words for them. */
export async function findScopeWords(
  db: Executor,
  tenant: Tenant,
  { scopes, audience }: AskedScopes,
): Promise<WordsOfScopes> {
  return (await scopeWordsByAudience(db, tenant, scopes))(audience);
}

/** The same for requests that differ in their audiences. */
export async function scopeWordsByAudience(
  db: Executor,
  { developerId }: Tenant,
  scopes: readonly string[],
): Promise<(audience: string | null) => WordsOfScopes> {
  const unknown = [...new Set(scopes)].filter((scope) => scopeInWords(scope) === scope);
  const said = unknown.length === 0 ? [] : await wordsOf(db, developerId, unknown);
  return (audience) => wordsInForce(said, audience);
}

/** A resource that has shown its credential. */
export interface ResourceServer {
  readonly developerId: string;
  readonly resourceId: string;
  readonly resource: string;
  /** The connectors that it serves; none for any. */
  readonly connectors: string[];
  readonly mode: Mode;
  readonly plan: Plan;
}

const byCredential = lookUp<ResourceServer, [hash: Buffer]>(
  'find_resource_server',
  `select i.developer_id as "developerId", i.resource_id as "resourceId", r.resource, r.connectors, d.mode, d.plan
   from resource_index i
     join developers d on d.id = i.developer_id
     join resources r on r.developer_id = i.developer_id and r.id = i.resource_id
   where i.hash = $1 and d.closed_at is null`,
);

/** It takes no tenant by design: the credential names the developer. */
export async function resourceServerAcrossTenants(
  db: Executor,
  hash: Buffer,
): Promise<ResourceServer | undefined> {
  return (await byCredential(db, hash))[0];
}

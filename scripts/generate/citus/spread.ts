/** Where the rows are: the facts that statements are held against. */
export interface Spread {
  /** The distribution column of each distributed table. */
  readonly distributed: ReadonlyMap<string, string>;
  /** The functions that may answer differently each time, or that write. */
  readonly volatile: ReadonlySet<string>;
}

const DISTRIBUTED_BY = 'developer_id';

/** Tables that every node has a copy of, each with its reason. */
export const REFERENCE: Readonly<Record<string, string>> = {
  api_key_index: 'finds the developer of a key, so it cannot be found by its developer',
  agent_index: 'finds the developer of an agent, so it cannot be found by its developer',
  email_verification_index: 'finds the developer of a mailed link, so it cannot be found by its developer',
  verified_emails: 'holds each address once over all developers',
  billing_customers: 'finds the developer of a customer of the payment provider',
  verified_domains: 'holds each domain once over all developers',
  scim_token_index: 'finds the developer of a SCIM token, so it cannot be found by its developer',
  ssf_receivers: 'holds each audience once over all developers, and finds the developer of a client',
  ssf_tokens: 'finds the developer of a token, so it cannot be found by its developer',
  tlog_index: 'finds the developer of a log, so it cannot be found by its developer',
  resource_index: 'holds each URI once over all developers, and finds the developer of a credential',
};

/** Tables that stay on the coordinator, each with its reason. */
export const LOCAL: Readonly<Record<string, string>> = {
  schema_migrations: 'the journal of the migrations, which run on the coordinator',
  schema_functions: 'the journal of the functions, which are replaced on the coordinator',
  dynamic_clients: 'clients that have registered themselves, which belong to no developer',
  signing_keys: 'the few keys of the whole service, which belong to no developer',
  service_did_documents: 'the times of the service’s own documents, which belong to no developer',
  operator_head: 'the end of the chain of the operator, who is no developer',
  operator_entries: 'the chain of the operator, who is no developer',
};

/** Indexes and constraints that Citus refuses, each with what holds in their place. */
export const DROPPED: Readonly<Record<string, string>> = {
  developers_seeded:
    'unique over all developers. Only SEED_API_KEY needs it, and its start takes a lock first',
  api_key_index_developer_id_key_id_fkey:
    'from a copied table to a distributed one. Both are deleted only with the account, the index first',
  agent_index_developer_id_agent_id_fkey:
    'from a copied table to a distributed one. Both are deleted only with the account, the index first',
  email_verification_index_developer_id_verification_id_fkey:
    'from a copied table to a distributed one. Both are deleted together, the index first',
  verified_emails_developer_id_fkey:
    'from a copied table to a distributed one. Closing an account deletes the row first',
  billing_customers_developer_id_fkey:
    'from a copied table to a distributed one. The erasure of an account deletes the row first',
  ssf_receivers_developer_id_fkey:
    'from a copied table to a distributed one. The erasure of an account deletes the row first',
  scim_token_index_developer_id_token_id_fkey:
    'from a copied table to a distributed one. Both are deleted together, the index first',
  resource_index_developer_id_resource_id_fkey:
    'from a copied table to a distributed one. Both are deleted together, the index first',
  verified_domains_developer_id_domain_id_fkey:
    'from a copied table to a distributed one. Both are deleted together, the index first',
};

/** The root of each developer's rows. Its own key is the developer. */
export const ROOT = 'developers';

/** @param columns the columns of a table @returns undefined for a table that is not distributed */
export function distributionColumn(table: string, columns: readonly string[]): string | undefined {
  if (table in REFERENCE || table in LOCAL) return undefined;
  if (table === ROOT) return 'id';
  return columns.includes(DISTRIBUTED_BY) ? DISTRIBUTED_BY : undefined;
}

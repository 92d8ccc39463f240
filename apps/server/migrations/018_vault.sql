-- Owner: providers. The upstreams at which a developer's principals connect their accounts. `settings` is what the
-- developer wrote, with what a preset adds; `found` is what the upstream publishes about itself. Every secret of a row is
-- sealed under the row's own data key, bound to the origin of the token endpoint, so that an edit of the row sends a
-- secret to no other host. `version` counts the changes, so that a slow discovery overwrites none.
create type vault_client_source as enum ('static', 'cimd', 'dcr');
create type vault_provider_status as enum ('active', 'paused', 'error');
create table vault_providers (
  developer_id       text not null references developers,
  id                 text not null,
  service            text not null,
  name               text not null,
  settings           json not null,
  found              json not null,
  client_id          text not null,
  client_source      vault_client_source not null,
  auth_method        text not null,
  key_id             text,
  data_key           text,
  client_secret      text,
  private_key        text,
  registration_token text,
  client_expires_at  timestamptz,
  registered_at      timestamptz,
  status             vault_provider_status not null,
  last_discovered_at timestamptz,
  last_error         text,
  version            bigint not null,
  created_at         timestamptz not null,
  updated_at         timestamptz not null,
  -- The person at whom the upstream refused the client. The word of one person's answer closes no provider: that takes a
  -- second person, and no success in between.
  client_refused_for text,
  primary key (developer_id, id)
);
-- Finds what a former vault key sealed, and the keys that are in use, across tenants.
create index vault_providers_keys on vault_providers (key_id, developer_id, id) where key_id is not null;
-- An upstream reads the document of a client, whose address names the provider alone.
create index vault_providers_id on vault_providers (id) where client_source = 'cimd';
-- A person connects an account by the service's name, and a developer has one provider of each name.
create unique index vault_providers_service on vault_providers (developer_id, service) where service is not null;

-- Owner: credentials. Upstream credentials of principals. Every secret of a row is sealed under the row's own data key,
-- which is sealed under the vault key that `key_id` names. A sealed text opens only in its column, for its developer,
-- principal and service. `version` counts what was stored, so that a refresh does not overwrite a later store. The
-- holder of the lease asks the upstream for new tokens. `metadata` is `json`, which keeps the text as it was written.
create type vault_refresh_status as enum ('none', 'ok', 'failed');
create type vault_connection_status as enum ('connected', 'reauthorization_required');
create table vault_credentials (
  developer_id      text not null references developers,
  id                text not null,
  principal_id      text not null,
  service           text not null,
  credential_type   text not null,
  token_expires_at  timestamptz,
  metadata          json not null,
  key_id            text not null,
  data_key          text not null,
  access_token      text not null,
  refresh_token     text,
  refresh           json,
  client_secret     text,
  refresh_status    vault_refresh_status not null,
  version           bigint not null,
  lease_id          text,
  leased_until      timestamptz,
  last_exchanged_at timestamptz,
  created_at        timestamptz not null,
  updated_at        timestamptz not null,
  -- The connection of a credential that a person connected. `connection` holds the facts of that moment: the account, the
  -- scopes, and the endpoints and client that serve its refresh and its revocation for as long as it lasts.
  provider_id       text,
  connection        json,
  connection_status vault_connection_status,
  connection_reason text,
  disconnecting_at  timestamptz,
  -- The limits of a credential in the proxy, and the service's profile as it was when the credential was stored. Without
  -- an origin the proxy sends it nowhere.
  proxy             jsonb,
  -- An upstream that failed is asked again after `refresh_after`: as long as it said, or twice as long as the time before.
  refresh_failures  integer not null default 0,
  refresh_after     timestamptz,
  primary key (developer_id, id),
  foreign key (developer_id, provider_id) references vault_providers
) with (fillfactor = 80, autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
-- Exchange and store find a credential by these names.
create unique index vault_credentials_named on vault_credentials (developer_id, principal_id, service);
-- Finds what a former vault key sealed, and the keys that are in use, across tenants.
create index vault_credentials_keys on vault_credentials (key_id, developer_id, id);
-- The deletion of a provider looks for credentials of it.
create index vault_credentials_provider on vault_credentials (developer_id, provider_id)
  where provider_id is not null;
-- Finds disconnections that a crash cut off, across tenants.
create index vault_credentials_disconnecting on vault_credentials (disconnecting_at)
  where disconnecting_at is not null;
-- Two services of a principal differ in more than case.
create unique index vault_credentials_folded
  on vault_credentials (developer_id, principal_id, lower(service collate "C")) where principal_id is not null;
-- The credentials of a person who leaves, under each id in any case; and GET /v1/principals by the beginning of an id.
create index vault_credentials_principal_folded on vault_credentials (developer_id, lower(principal_id) text_pattern_ops)
  where lower(principal_id) is not null;

-- Owner: connections. Wishes of developers, agents and persons that a principal connects an account. The tokens of a
-- session that came back from the upstream are sealed in the row until the person confirms, for ten minutes at most.
create type connect_session_status as enum (
  'pending', 'started', 'returned', 'connected', 'denied', 'failed', 'cancelled', 'expired');
create table connect_sessions (
  developer_id  text not null references developers,
  id            text not null,
  provider_id   text not null,
  service       text not null,
  principal_id  text not null,
  agent_id      text,
  scopes        text[] not null,
  return_url    text,
  state         text,
  status        connect_session_status not null,
  reason        text,
  starts        integer not null,
  method        text,
  result        json,
  data_key      text,
  tokens        text,
  credential_id text,
  created_at    timestamptz not null,
  expires_at    timestamptz not null,
  decided_at    timestamptz,
  primary key (developer_id, id)
);
-- Finds sessions that ran out, across tenants.
create index connect_sessions_due on connect_sessions (expires_at)
  where status in ('pending', 'started', 'returned');
-- The open sessions of a principal for a service, of which there are ten at most.
create index connect_sessions_open on connect_sessions (developer_id, principal_id, service, id)
  where status in ('pending', 'started', 'returned') and principal_id is not null;
-- The open sessions that an agent has asked for, which end with it.
create index connect_sessions_agent on connect_sessions (developer_id, agent_id)
  where agent_id is not null and status in ('pending', 'started', 'returned');

-- Owner: proxy. How requests of agents reach the upstream of a service: `profile` as it was put, in its own order, since
-- the first upstream is the default. A service without a row has no proxy.
create table vault_proxy_profiles (
  developer_id text not null references developers,
  service      text not null,
  version      integer not null check (version > 0),
  proxy_only   boolean not null,
  profile      json not null,
  created_at   timestamptz not null,
  updated_at   timestamptz not null,
  primary key (developer_id, service)
);

-- Owner: proxy. A request that was passed on, made with its audit entry, and what came of it, which is known only later.
-- Rows are deleted after thirty days.
create table vault_proxy_calls (
  developer_id   text not null references developers,
  id             text not null,
  agent_id       text not null,
  grant_id       text not null,
  credential_id  text not null,
  service        text not null,
  upstream       text not null,
  method         text not null,
  rule           text not null,
  tool           text,
  status         smallint,
  outcome        text,
  response_bytes bigint,
  duration_ms    integer,
  created_at     timestamptz not null,
  primary key (developer_id, id)
);
-- The job that forgets old calls.
create index vault_proxy_calls_old on vault_proxy_calls (created_at);

create type vault_connection_status as enum ('connected', 'reauthorization_required');
create type connect_session_status as enum
  ('pending', 'started', 'returned', 'connected', 'denied', 'failed', 'cancelled', 'expired');

-- The page at which a developer's application signs a person in who connects an account.
alter table developers add column connect_login_url text;

-- The connection of a credential that a person connected. `connection` holds the facts of that moment: the account, the
-- scopes, and the endpoints and client that serve its refresh and its revocation for as long as it lasts.
alter table vault_credentials
  add column provider_id text,
  add column connection json,
  add column connection_status vault_connection_status,
  add column connection_reason text,
  add column disconnecting_at timestamptz,
  add foreign key (developer_id, provider_id) references vault_providers;
-- The deletion of a provider looks for credentials of it.
create index vault_credentials_provider on vault_credentials (developer_id, provider_id)
  where provider_id is not null;
-- Finds disconnections that a crash cut off, across tenants.
create index vault_credentials_disconnecting on vault_credentials (disconnecting_at)
  where disconnecting_at is not null;

-- Owner: connections. Wishes of developers, agents and persons that a principal connects an account. The tokens of a
-- session that came back from the upstream are sealed in the row until the person confirms, for ten minutes at most.
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
-- The open sessions of a principal for a service, of which there are ten at most.
create index connect_sessions_open on connect_sessions (developer_id, principal_id, service, id)
  where status in ('pending', 'started', 'returned');
-- Finds sessions that ran out, across tenants.
create index connect_sessions_due on connect_sessions (expires_at)
  where status in ('pending', 'started', 'returned');

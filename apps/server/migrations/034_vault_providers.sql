create type vault_provider_status as enum ('active', 'paused', 'error');
create type vault_client_source as enum ('static', 'cimd', 'dcr');

-- Owner: providers. The upstreams at which a developer's principals connect their accounts. `settings` is what the
-- developer wrote, with what a preset adds; `found` is what the upstream publishes about itself. Every secret of a row is
-- sealed under the row's own data key, bound to the origin of the token endpoint, so that an edit of the row sends a
-- secret to no other host. `version` counts the changes, so that a slow discovery overwrites none.
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
  primary key (developer_id, id)
);
-- A person connects an account by the service's name, and a developer has one provider of each name.
create unique index vault_providers_service on vault_providers (developer_id, service);
-- Finds what a former vault key sealed, and the keys that are in use, across tenants.
create index vault_providers_keys on vault_providers (key_id, developer_id, id) where key_id is not null;

create type vault_refresh_status as enum ('none', 'ok', 'failed');

-- Owner: credentials. Upstream credentials of principals. Every secret of a row is sealed under the row's own data key,
-- which is sealed under the vault key that `key_id` names. A sealed text opens only in its column, for its developer,
-- principal and service. `version` counts what was stored, so that a refresh does not overwrite a later store. The
-- holder of the lease asks the upstream for new tokens. `metadata` is `json`, which keeps the text as it was written.
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
  primary key (developer_id, id)
) with (fillfactor = 80);
-- Exchange and store find a credential by these names.
create unique index vault_credentials_named on vault_credentials (developer_id, principal_id, service);
-- Two services of a principal differ in more than case.
create unique index vault_credentials_folded
  on vault_credentials (developer_id, principal_id, lower(service collate "C"));
-- Finds what a former vault key sealed, and the keys that are in use, across tenants.
create index vault_credentials_keys on vault_credentials (key_id, developer_id, id);

-- Ids are a prefix and a ULID, so they sort by time, to the millisecond. The tenant comes first in every
-- key: a list pages on its primary key, and the schema can be sharded by developer.

-- Owner: developers. The tenant itself. An e-mail address is only a claim until it is verified, so it is not unique
-- here. `audit_private_keys` names top-level members of audit metadata that principals do not see.
-- `max_delegation_depth` says how deep the developer's agents may delegate; null leaves it to the operator.
create type developer_mode as enum ('live', 'sandbox');
create type plan as enum ('free', 'pro', 'enterprise');
create type consent_mode as enum ('developer', 'email', 'sso', 'passkey');
create table developers (
  id                   text primary key,
  name                 text not null,
  email                text,
  email_verified       boolean not null,
  mode                 developer_mode not null,
  plan                 plan not null,
  consent_mode         consent_mode not null,
  consent_keys         jsonb not null,
  scope_descriptions   jsonb not null,
  redirect_uris        text[] not null,
  enforce_agent_scopes boolean not null,
  audit_private_keys   text[] not null default '{}',
  max_delegation_depth smallint check (max_delegation_depth between 1 and 10),
  is_seeded            boolean not null,
  created_at           timestamptz not null,
  updated_at           timestamptz not null
);
-- Start-up asks for the seeded developer of a mode. A mode has at most one, even when many processes start at
-- once.
create unique index developers_seeded on developers (mode) where is_seeded;

-- Owner: developers. A `runtime` key does the work of an agent's host; only a `full` key may change an
-- account.
create type key_role as enum ('runtime', 'full');
create table api_keys (
  developer_id text not null references developers,
  id           text not null,
  name         text not null,
  role         key_role not null,
  prefix       text not null,
  created_at   timestamptz not null,
  last_used_at timestamptz,
  expires_at   timestamptz,
  replaced_at  timestamptz,
  revoked_at   timestamptz,
  primary key (developer_id, id)
);

-- Owner: developers. The one look-up without a tenant, because it finds the tenant. The key itself is never
-- stored, only its SHA-256.
create table api_key_index (
  hash         bytea primary key check (octet_length(hash) = 32),
  developer_id text not null,
  key_id       text not null,
  foreign key (developer_id, key_id) references api_keys
);

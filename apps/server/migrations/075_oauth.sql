-- A token may have fewer scopes than its grant, an audience of its own, and a key that it is bound to (RFC 9449).
-- Verification compares with the stored token first.
alter table tokens
  add column scopes text[],
  add column audience text,
  add column key_thumbprint text;
-- The refresh token of a public client is bound to its key.
alter table refresh_tokens add column key_thumbprint text;
-- A code that was asked for with the thumbprint of a key is exchanged only with a proof by that key.
alter table auth_requests add column key_thumbprint text;

create type oauth_auth_method as enum ('none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt');

-- Owner: oauth. Agents that are OAuth clients. The secret itself is never stored, only its SHA-256.
create table oauth_clients (
  developer_id  text not null references developers,
  agent_id      text not null,
  redirect_uris text[] not null,
  auth_method   oauth_auth_method not null,
  secret_hash   bytea check (octet_length(secret_hash) = 32),
  dpop_bound    boolean not null,
  created_at    timestamptz not null,
  updated_at    timestamptz not null,
  primary key (developer_id, agent_id),
  foreign key (developer_id, agent_id) references agents,
  check ((secret_hash is not null) = (auth_method in ('client_secret_basic', 'client_secret_post')))
);

-- Owner: resources. Servers that take the developer's tokens, by their URIs (RFC 8707).
create table resources (
  developer_id      text not null references developers,
  id                text not null,
  resource          text not null,
  name              text not null,
  scopes            text[] not null,
  connectors        text[] not null,
  login_url         text,
  dpop_required     boolean not null,
  token_ttl_seconds integer not null,
  created_at        timestamptz not null,
  updated_at        timestamptz not null,
  primary key (developer_id, id)
);

-- Owner: resources. Finds the developer of a resource by its URI or its credential, so it has no tenant. The credential
-- itself is never stored, only its SHA-256.
create table resource_index (
  resource     text primary key,
  hash         bytea not null check (octet_length(hash) = 32),
  developer_id text not null,
  resource_id  text not null,
  foreign key (developer_id, resource_id) references resources on delete cascade
);
-- A resource that calls with its credential.
create index resource_index_hash on resource_index (hash);

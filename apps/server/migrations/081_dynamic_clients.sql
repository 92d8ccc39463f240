-- Owner: oauth. Clients that have registered themselves (RFC 7591). They belong to no developer, so they have no tenant.
-- Secrets are never stored, only their SHA-256. The description is the metadata as the client reads them again.
create table dynamic_clients (
  client_id       text primary key,
  name            text not null,
  redirect_uris   text[] not null,
  auth_method     oauth_auth_method not null,
  secret_hash     bytea check (octet_length(secret_hash) = 32),
  management_hash bytea not null check (octet_length(management_hash) = 32),
  keys            jsonb,
  refreshes       boolean not null,
  description     jsonb not null,
  created_at      timestamptz not null,
  expires_at      timestamptz not null,
  check ((secret_hash is not null) = (auth_method in ('client_secret_basic', 'client_secret_post')))
);
-- Clients that nobody has used for long.
create index dynamic_clients_expiry on dynamic_clients (expires_at);

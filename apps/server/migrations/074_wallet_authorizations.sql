-- Owner: wallet-authorizations. Single-use statements that an agent may move an amount from an account. They end with their
-- grant, whose status decides; no row says so.
create table wallet_authorizations (
  developer_id text not null,
  id           text not null,
  grant_id     text not null,
  agent_id     text not null,
  agent_did    text not null,
  principal_id text not null,
  "authorization" text not null,
  issued_at    timestamptz not null,
  expires_at   timestamptz not null,
  consumed_at  timestamptz,
  revoked_at   timestamptz,
  primary key (developer_id, id)
);
-- The authorizations of a grant.
create index wallet_authorizations_grant on wallet_authorizations (developer_id, grant_id, id);
-- The authorizations about a principal.
create index wallet_authorizations_principal on wallet_authorizations (developer_id, principal_id, id);

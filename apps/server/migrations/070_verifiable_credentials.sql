-- Owner: verifiable-credentials. Lists of revocation bits, which wallets read. Postgres counts the bits of a byte from
-- the least significant, as a Token Status List does; a Bitstring Status List turns each byte around.
create table status_lists (
  developer_id text not null,
  id           text not null,
  bits         bytea not null,
  used         integer not null,
  is_open      boolean not null,
  flips        integer not null, -- so that a copy knows whether it is the newest
  created_at   timestamptz not null,
  primary key (developer_id, id)
);
alter table status_lists alter column bits set storage external; -- each flip would compress the bits again
-- The list from which new credentials take their place.
create unique index status_lists_open on status_lists (developer_id) where is_open;
-- A wallet knows the id of a list alone.
create index status_lists_id on status_lists (id);

-- Owner: verifiable-credentials. Statements about a grant that anybody can verify offline. None gives access to anything.
create table verifiable_credentials (
  developer_id     text not null,
  id               text not null,
  grant_id         text not null,
  agent_id         text not null,
  agent_did        text not null,
  principal_id     text not null,
  credential_type  text not null,
  format           text not null,
  credential       text not null,
  status_list_id   text not null,
  status_list_idx  integer not null,
  issued_at        timestamptz not null,
  expires_at       timestamptz not null,
  revoked_at       timestamptz,
  primary key (developer_id, id)
);
-- A place in a list is taken once.
create unique index verifiable_credentials_place
  on verifiable_credentials (developer_id, status_list_id, status_list_idx);
-- The credentials of a grant, which end with it.
create index verifiable_credentials_grant on verifiable_credentials (developer_id, grant_id, id);
-- The credentials about a principal.
create index verifiable_credentials_principal on verifiable_credentials (developer_id, principal_id, id);

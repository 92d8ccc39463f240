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
-- The credentials of a grant, which end with it.
create index verifiable_credentials_grant on verifiable_credentials (developer_id, grant_id, id) where grant_id is not null;
-- A place in a list is taken once.
create unique index verifiable_credentials_place
  on verifiable_credentials (developer_id, status_list_id, status_list_idx) where status_list_id is not null;
-- The credentials about a principal.
create index verifiable_credentials_principal on verifiable_credentials (developer_id, principal_id, id)
  where principal_id is not null;

-- Owner: passports. Members of a passport beside those of its credential, whose id it has. `proof` is the Data Integrity
-- proof, null without an identity key.
create table passports (
  developer_id text not null,
  id           text not null,
  categories   text[] not null,
  amount       text not null, -- the decimal as it was asked
  currency     text not null,
  parent_id    text,
  proof        jsonb,
  primary key (developer_id, id)
);
-- The passports below another, which end with it.
create index passports_parent on passports (developer_id, parent_id) where parent_id is not null;

-- Owner: passports. The name of a principal in passports: 32 random bytes, so that merchants cannot tell who it is.
create table principal_pseudonyms (
  developer_id text not null,
  principal_id text not null,
  pseudonym    text not null,
  primary key (developer_id, principal_id)
);

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
create index wallet_authorizations_grant on wallet_authorizations (developer_id, grant_id, id) where grant_id is not null;
-- The authorizations about a principal.
create index wallet_authorizations_principal on wallet_authorizations (developer_id, principal_id, id)
  where principal_id is not null;

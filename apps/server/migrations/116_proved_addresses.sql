-- Owner: principals. The address at which a principal has read a mail, by a keyed hash: a link to the own page is mailed there
-- to who asks for it. The service keeps no address.
create table principal_addresses (
  developer_id text not null references developers,
  principal_id text not null,
  address_hash bytea not null,
  proved_at    timestamptz not null,
  primary key (developer_id, principal_id)
);
-- The people of an address that somebody names.
create index principal_addresses_hash on principal_addresses (address_hash);
-- The address of a person who leaves, under each id in any case.
create index principal_addresses_folded on principal_addresses (developer_id, lower(principal_id));

-- How an account is shown on the pages for people. The hash of its picture is the end of the picture's address.
alter table developers
  add column accent_color text check (accent_color ~ '^#[0-9a-f]{6}$'),
  add column logo_hash text check (logo_hash ~ '^[0-9a-f]{64}$');

-- Owner: developers. The picture of an account, apart, so that no read of the account carries it.
create table logos (
  developer_id text primary key references developers,
  png          bytea not null check (octet_length(png) <= 131072)
);

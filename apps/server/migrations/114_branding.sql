-- Owner: developers. How an account is shown on the pages for people. The picture is apart, so that no read of an account
-- carries it; the hash of the picture is the end of its address.
alter table developers
  add column accent_color text check (accent_color ~ '^#[0-9a-f]{6}$'),
  add column logo_hash text check (logo_hash ~ '^[0-9a-f]{64}$');

create table logos (
  developer_id text primary key references developers,
  png          bytea not null check (octet_length(png) <= 131072)
);

-- The vault key that seals the data key of a connection, so that a rotation finds the rows of former keys.
alter table sso_connections add column key_id text;
update sso_connections set key_id = split_part(data_key, '.', 2) where data_key is not null;
-- The connections that a key seals.
create index sso_connections_keys on sso_connections (key_id, developer_id, id) where key_id is not null;
-- Metadata of a service provider, which are asked for by the id of a connection alone.
create index sso_connections_id on sso_connections (id);

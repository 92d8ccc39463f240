-- Owner: setup. Links by which a customer's administrator sets up a connection or provisioning. A link is opened once, and
-- the browser that opened it has a session from then on. Both secrets are stored as their SHA-256.
create table setup_links (
  developer_id  text not null references developers,
  id            text not null,
  name          text not null,
  purposes      text[] not null,
  connection_id text,
  link_hash     bytea not null,
  session_hash  bytea,
  created_at    timestamptz not null,
  expires_at    timestamptz not null,
  opened_at     timestamptz,
  finished_at   timestamptz,
  primary key (developer_id, id),
  foreign key (developer_id, connection_id) references sso_connections on delete cascade
);
-- A link that is opened, whose secret names it alone.
create index setup_links_id on setup_links (id);
-- The links of a connection that is deleted.
create index setup_links_connection on setup_links (developer_id, connection_id) where connection_id is not null;

-- Owner: compliance. Orders to keep everything, as for a legal dispute. While an order stands, the account cannot be
-- closed, so nothing of it is erased.
create table legal_holds (
  developer_id text not null references developers,
  id           text collate "C" not null,
  name         text not null,
  reason       text,
  principal_id text,
  created_at   timestamptz not null,
  released_at  timestamptz,
  primary key (developer_id, id)
);
-- The holds that stand: a close asks for them.
create index legal_holds_standing on legal_holds (developer_id, id) where released_at is null;

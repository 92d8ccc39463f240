-- Owner: events. The outbox. `envelope` is the exact text that every subscriber receives, because it is
-- signed byte for byte. A developer's events have the order of their commits: an append gives `seq` under the
-- lock of the chain head and holds the lock until the commit, so a reader that has seen a number has missed
-- none below it. (Event ids come from clocks, and a transaction may commit after another that began later.)
create table outbox_events (
  developer_id text not null references developers,
  seq          bigint not null,
  id           text not null,
  type         text not null,
  envelope     text not null,
  created_at   timestamptz not null,
  primary key (developer_id, seq),
  unique (developer_id, id)
);

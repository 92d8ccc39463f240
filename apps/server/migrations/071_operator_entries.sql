-- Owner: operator. The end of the operator's chain: one row, written by each transaction that appends.
create table operator_head (
  id    text primary key,
  seq   bigint not null,
  hash  text,
  at    timestamptz not null
);
insert into operator_head (id, seq, at) values ('operator', 0, '-infinity');

-- Owner: operator. Acts of the operator, or of the service by itself, on the deployment. Append-only, and apart from the
-- chains of developers. The hashes are those of audit entries.
create table operator_entries (
  seq        bigint primary key,
  id         text not null,
  action     text not null,
  metadata   jsonb not null,
  request_id text not null,
  at         timestamptz not null,
  prev_hash  text,
  hash       text not null
);
create trigger append_only before update or delete or truncate on operator_entries
  for each statement execute function refuse_change();

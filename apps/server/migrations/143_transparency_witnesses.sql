-- Owner: transparency. What a witness has confirmed of a log, and when it is asked next. `line` is its signature line over the
-- note of `size`; a note of that size is served with it.
create table tlog_witnesses (
  developer_id text not null,
  gen          integer not null,
  witness      text not null,
  size         bigint not null default 0,
  line         text,
  cosigned_at  timestamptz,
  next_at      timestamptz not null,
  failures     integer not null default 0,
  error        text,
  primary key (developer_id, gen, witness)
);

-- Owner: transparency. The log of a developer: a Merkle tree over the entries of their audit chain. The origin stays when
-- PUBLIC_BASE_URL changes. A log that contradicts itself is halted; the next generation replaces it.
create table tlog_logs (
  developer_id text not null,
  gen          integer not null,
  log_id       text not null,
  origin       text not null,
  size         bigint not null default 0,
  root         bytea not null check (octet_length(root) = 32),
  halted       text,
  created_at   timestamptz not null,
  closed_at    timestamptz,
  primary key (developer_id, gen)
);
-- The log that grows, one for each developer.
create unique index tlog_logs_open on tlog_logs (developer_id) where closed_at is null;

-- Owner: transparency. Finds the developer of a log.
create table tlog_index (
  log_id       text primary key,
  developer_id text not null,
  gen          integer not null
);

-- Owner: transparency. Level 0 has the hashes of leaves, each further level the roots of full tiles of the level below, 256
-- hashes in a tile. A tile only grows at its end, so its beginning is the tile of every earlier size.
create table tlog_tiles (
  developer_id text not null,
  gen          integer not null,
  level        integer not null,
  idx          bigint not null,
  hashes       bytea not null check (octet_length(hashes) between 32 and 8192 and octet_length(hashes) % 32 = 0),
  primary key (developer_id, gen, level, idx)
);
alter table tlog_tiles alter column hashes set storage external; -- hashes cannot be compressed

-- Owner: transparency. The last signed note of each day (UTC).
create table tlog_checkpoints (
  developer_id text not null,
  gen          integer not null,
  day          date not null,
  size         bigint not null,
  note         text not null,
  signed_at    timestamptz not null,
  primary key (developer_id, gen, day)
);

-- Owner: transparency. What a witness has confirmed of a log, and when it is asked next. `line` is its signature line over
-- the note of `size`; a note of that size is served with it.
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

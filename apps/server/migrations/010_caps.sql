-- The use of caps and cost units. Times are milliseconds since 1970 by the clock of this database. The meter of an SDK
-- makes the same tables in a database without developers, so none of them refers to another table.

-- Owner: caps. The epoch in which a developer's counters began. A caller that expects another one has lost counters.
create table caps_epoch (
  developer_id text not null primary key,
  epoch        text not null
);

-- Owner: caps. The units of a counter that are inside its window. The row is the lock of the counter.
create table caps_counter (
  developer_id text    not null,
  key          text    not null,
  used         bigint  not null default 0 check (used >= 0),
  clock_ms     bigint  not null default 0,  -- the latest time that was used: a clock that steps back frees nothing
  is_timed     boolean not null,            -- false for a case, whose units never leave
  primary key (developer_id, key)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Owner: caps. The units that leave a counter's window at one time.
create table caps_slot (
  developer_id text   not null,
  key          text   not null,
  expires_ms   bigint not null,
  units        bigint not null check (units >= 0),
  primary key (developer_id, key, expires_ms)
) with (fillfactor = 70);

-- Owner: caps. A call that was charged. The row is kept for as long as its caller may repeat it or give its units back.
create table caps_call (
  developer_id text   not null,
  id           text   not null,
  state        text   not null check (state in ('held', 'sent', 'refunded')),
  fingerprint  text   not null,
  charges      jsonb  not null,             -- [{key, units, expires_ms}], expires_ms null for a case
  created_ms   bigint not null,
  primary key (developer_id, id)
);
-- caps_prune: the calls that are old enough.
create index caps_call_created on caps_call (developer_id, created_ms) where created_ms is not null;

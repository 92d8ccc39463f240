-- Owner: audit. How far the periodic check of each chain is: the last good entry of the round, and its hash, so that a
-- chain that somebody wrote again is noticed.
create table audit_checks (
  developer_id text not null references developers,
  seq          bigint not null,
  hash         bytea,
  began_at     timestamptz not null,
  checked_at   timestamptz not null,
  primary key (developer_id)
);

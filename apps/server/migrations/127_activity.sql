-- Owner: insights. How often something happened in an hour (UTC). Each process adds what it has counted every second. It
-- refers to no developer: one account must not keep the counts of the others from being written.
create table activity_counts (
  developer_id text not null,
  metric       text not null,
  hour         timestamptz not null,
  count        bigint not null,
  primary key (developer_id, metric, hour)
);
-- Deletes counts that are past their time, across tenants.
create index activity_counts_old on activity_counts (hour);

-- Owner: insights. When counting began for accounts that are older than the counts. All others are counted from their
-- beginning.
create table activity_starts (
  developer_id text primary key,
  since        timestamptz not null
);
insert into activity_starts (developer_id, since) select id, now() from developers;

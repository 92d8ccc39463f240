-- Owner: quotas. How much of a plan is used. Kept in the transactions that create and end things, and allowed to lag
-- behind expiry: only a caller that meets the limit has it counted exactly (see take_quota).
create table quota_counters (
  developer_id text not null references developers,
  resource     text not null,
  used         bigint not null,
  primary key (developer_id, resource)
);

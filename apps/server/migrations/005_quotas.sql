-- Owner: quotas. The used part of each quota. The transactions that create and end things update it. It may
-- lag behind expiry: only a caller that meets the quota has the use counted exactly (see take_quota).
create table quota_counters (
  developer_id text not null references developers,
  resource     text not null,
  used         bigint not null,
  primary key (developer_id, resource)
);

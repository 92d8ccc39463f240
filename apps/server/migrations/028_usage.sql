-- Owner: usage. How often a developer used the service on a day (UTC). Each process adds what it has counted every second.
-- It refers to no developer: one account must not keep the counts of the others from being written.
create table usage_daily (
  developer_id    text not null,
  day             date not null,
  token_exchanges bigint not null default 0,
  authorizations  bigint not null default 0,
  verifications   bigint not null default 0,
  primary key (developer_id, day)
);

-- The monthly quotas count what the month has seen before they came.
insert into quota_counters (developer_id, resource, used)
  select developer_id, 'token_exchanges', count(*) from grants
    where parent_grant_id is null and issued_at >= date_trunc('month', now(), 'utc') group by developer_id
  union all
  select developer_id, 'authorizations', count(*) from auth_requests
    where created_at >= date_trunc('month', now(), 'utc') group by developer_id;

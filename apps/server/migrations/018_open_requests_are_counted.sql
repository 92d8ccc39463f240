-- The quota of open requests counts those that were open before it.
insert into quota_counters (developer_id, resource, used)
  select developer_id, 'open_requests', count(*) from auth_requests
    where status in ('pending', 'approved') group by developer_id;

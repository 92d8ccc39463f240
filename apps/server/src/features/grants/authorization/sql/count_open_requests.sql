-- exact_use calls this when the counter has reached the plan's limit. A request that has run out counts no more, whether
-- it is recorded as expired or not.
create or replace function count_open_requests(p_developer_id text, p_at timestamptz) returns bigint language sql stable as
$$
  select count(*) from auth_requests
    where developer_id = p_developer_id and status in ('pending', 'approved')
      and coalesce(code_expires_at, expires_at) > p_at
$$;

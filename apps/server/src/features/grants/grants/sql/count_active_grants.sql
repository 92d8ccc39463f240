-- exact_use calls this when the counter has reached the plan's limit.
create or replace function count_active_grants(p_developer_id text, p_at timestamptz) returns bigint language sql stable as
$$
  select count(*) from grants where developer_id = p_developer_id and status = 'active' and expires_at > p_at
$$;

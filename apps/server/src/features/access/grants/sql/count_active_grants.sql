-- Called by exact_use, where a plan's limit is met.
create or replace function count_active_grants(p_developer_id text, p_at timestamptz) returns bigint language sql stable as
$$
  select count(*) from grants where developer_id = p_developer_id and status = 'active' and expires_at > p_at
$$;

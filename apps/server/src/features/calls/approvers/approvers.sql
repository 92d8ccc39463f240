-- Called by exact_use, where a plan's limit is met.
create or replace function count_approvers(p_developer_id text, p_at timestamptz) returns bigint language sql stable as
$$
  select count(*) from approvers where developer_id = p_developer_id and status <> 'removed'
$$;

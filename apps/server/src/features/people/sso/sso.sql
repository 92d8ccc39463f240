-- Called by exact_use, where a plan's limit is met.
create or replace function count_sso_connections(p_developer_id text, p_at timestamptz) returns bigint language sql stable as
$$
  select count(*) from sso_connections where developer_id = p_developer_id
$$;

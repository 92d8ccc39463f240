-- Called by exact_use, where a plan's limit is met.
create or replace function count_proxy_profiles(p_developer_id text, p_at timestamptz) returns bigint language sql stable as
$$
  select count(*) from vault_proxy_profiles where developer_id = p_developer_id
$$;

-- Called by exact_use, where a plan's limit is met.
create or replace function count_vault_providers(p_developer_id text, p_at timestamptz) returns bigint language sql stable as
$$
  select count(*) from vault_providers where developer_id = p_developer_id
$$;

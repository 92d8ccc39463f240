-- exact_use calls this function at the limit of a plan.
create or replace function count_vault_credentials(p_developer_id text, p_at timestamptz)
  returns bigint language sql stable as
$$
  select count(*) from vault_credentials where developer_id = p_developer_id
$$;

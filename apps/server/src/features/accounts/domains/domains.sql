-- Called by exact_use, where a plan's limit is met. Pending and lapsed domains count too.
create or replace function count_domains(p_developer_id text, p_at timestamptz) returns bigint language sql stable as
$$
  select count(*) from custom_domains where developer_id = p_developer_id
$$;

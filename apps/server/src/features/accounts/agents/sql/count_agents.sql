-- exact_use calls this when the counter has reached the plan's limit. A proposed agent counts from its first approval on.
create or replace function count_agents(p_developer_id text, p_at timestamptz) returns bigint language sql stable as
$$
  select count(*) from agents where developer_id = p_developer_id and status <> 'revoked' and not is_proposed
$$;

-- The status by which an agent is judged (`standing`), for statements about one agent.
create or replace function agent_standing(p_developer_id text, p_agent_id text) returns agent_status
  language sql stable as
$$
  select standing(p_developer_id, a.status, d.stopped_at)
  from agents a join developers d on d.id = p_developer_id
  where a.developer_id = p_developer_id and a.id = p_agent_id
$$;

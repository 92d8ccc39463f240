-- The status by which an agent is judged (`standing`), for statements about one agent.
create or replace function agent_standing(p_developer_id text, p_agent_id text) returns agent_status
  language sql stable as
$$
  select standing(p_developer_id, a.status, d.stopped_at)
  from agents a join developers d on d.id = p_developer_id
  where a.developer_id = p_developer_id and a.id = p_agent_id
$$;

-- exact_use calls this when the counter has reached the plan's limit. A proposed agent counts from its first approval on.
create or replace function count_agents(p_developer_id text, p_at timestamptz) returns bigint language sql stable as
$$
  select count(*) from agents where developer_id = p_developer_id and status <> 'revoked' and not is_proposed
$$;

-- The status by which an agent is judged, which stays so until the commit. Locks are taken in the order of
-- write_redemption, before that of the grant; the status is read once they are held.
create or replace function hold_standing(p_developer_id text, p_agent_id text) returns agent_status
  language plpgsql as
$$
begin
  perform from agents where developer_id = p_developer_id and id = p_agent_id for share;
  perform account_runs(p_developer_id);
  return agent_standing(p_developer_id, p_agent_id);
end
$$;

-- Shares the rows of agents until the commit, for a group of hot writes, before the first of them locks anything else.
create or replace function share_agents(p_developer_id text, p_ids text[]) returns void
  language plpgsql set enable_seqscan = off as
$$
begin
  perform from agents where developer_id = p_developer_id and id = any (p_ids) order by id for share;
end
$$;

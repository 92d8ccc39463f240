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

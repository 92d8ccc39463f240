-- Every call that an agent makes with its grant token reads the token, its grant, its agent and its developer as they
-- are now. Finds nothing for a closed account.
create or replace function use_grant_token(p_developer_id text, p_token_id text, p_at timestamptz)
  returns table (held grants, token tokens, agent_did text, agent_status agent_status, mode developer_mode, plan plan)
  language plpgsql set enable_seqscan = off as
$$
begin
  return query
    select u.held, u.token, u.agent_did, u.agent_status, d.mode, d.plan
      from developers d, use_token(p_developer_id, p_token_id, p_at) u
      where d.id = p_developer_id and d.closed_at is null;
end
$$;

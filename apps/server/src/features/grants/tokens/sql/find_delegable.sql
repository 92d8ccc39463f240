-- The facts that decide POST /v1/grants/delegate: the presented token with its grant and agent, the agent that is to
-- get a part of the grant, and the developer's settings for delegation. `budget_remaining` and `budget_initial` are for
-- instances of the release before.
create or replace function find_delegable(p_developer_id text, p_token_id text, p_sub_agent_id text)
  returns table (held grants, token tokens, agent_did text, agent_status agent_status,
    sub_agent_did text, sub_agent_status agent_status, sub_agent_scopes text[], max_depth smallint,
    enforce_agent_scopes boolean, budget_remaining bigint, budget_currency text, budget_initial bigint,
    policies_version bigint, budget_units numeric, budget_initial_units numeric)
  language plpgsql stable set enable_seqscan = off as
$$
begin
  select * into token from tokens t where t.developer_id = p_developer_id and t.id = p_token_id;
  if not found then return; end if;
  select * into held from grants g where g.developer_id = p_developer_id and g.id = token.grant_id;
  select a.did, standing(p_developer_id, a.status, d.stopped_at) into agent_did, agent_status
    from agents a join developers d on d.id = p_developer_id
    where a.developer_id = p_developer_id and a.id = held.agent_id;
  select a.did, standing(p_developer_id, a.status, d.stopped_at), a.scopes into sub_agent_did, sub_agent_status, sub_agent_scopes
    from agents a join developers d on d.id = p_developer_id
    where a.developer_id = p_developer_id and a.id = p_sub_agent_id;
  select d.max_delegation_depth, d.enforce_agent_scopes into max_depth, enforce_agent_scopes
    from developers d where d.id = p_developer_id;
  select b.remaining, b.currency, b.own_initial, b.remaining_units, b.own_initial_units
    into budget_remaining, budget_currency, budget_initial, budget_units, budget_initial_units
    from grant_budget(p_developer_id, held.id) b;
  policies_version := policies_version(p_developer_id);
  return next;
end
$$;

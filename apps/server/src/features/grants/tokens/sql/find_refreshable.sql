-- The facts that decide POST /v1/token/refresh: a refresh token with its grant, agent and budget.
-- `budget_remaining` and `budget_initial` are for instances of the release before.
create or replace function find_refreshable(p_developer_id text, p_refresh_id text)
  returns table (held grants, refresh refresh_tokens, agent_did text, agent_status agent_status,
    budget_remaining bigint, budget_currency text, budget_initial bigint,
    policies_version bigint, budget_units numeric, budget_initial_units numeric)
  language plpgsql stable set enable_seqscan = off as
$$
begin
  select * into refresh from refresh_tokens r where r.developer_id = p_developer_id and r.id = p_refresh_id;
  if not found then return; end if;
  select * into held from grants g where g.developer_id = p_developer_id and g.id = refresh.grant_id;
  select a.did, standing(p_developer_id, a.status, d.stopped_at) into agent_did, agent_status
    from agents a join developers d on d.id = p_developer_id
    where a.developer_id = p_developer_id and a.id = held.agent_id;
  select b.remaining, b.currency, b.own_initial, b.remaining_units, b.own_initial_units
    into budget_remaining, budget_currency, budget_initial, budget_units, budget_initial_units
    from grant_budget(p_developer_id, held.id) b;
  policies_version := policies_version(p_developer_id);
  return next;
end
$$;

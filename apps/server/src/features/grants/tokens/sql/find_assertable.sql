-- The facts that decide whether an agent may get a grant on the word of an identity provider.
create or replace function find_assertable(p_developer_id text, p_agent_id text)
  returns table (agent_did text, agent_status agent_status, agent_scopes text[], enforce_agent_scopes boolean,
    policies_version bigint)
  language sql stable as
$$
  select a.did, standing(p_developer_id, a.status, d.stopped_at), a.scopes, d.enforce_agent_scopes,
    policies_version(p_developer_id)
  from agents a join developers d on d.id = p_developer_id
  where a.developer_id = p_developer_id and a.id = p_agent_id
$$;

-- The facts that decide POST /v1/authorize. The agent is null when the developer has none of this id, and a counter
-- when nothing was ever counted. One statement, because a statement of a function costs Postgres some 5 microseconds.
create or replace function find_asker(p_developer_id text, p_agent_id text)
  returns table (redirect_uris text[], enforce_agent_scopes boolean, consent_mode consent_mode, consent_keys jsonb,
    agent_did text, agent_status agent_status, agent_scopes text[], active_grants bigint, open_requests bigint,
    policy_auto_approval boolean, policies_version bigint)
  language plpgsql stable set enable_seqscan = off as
$$
begin
  return query
    select d.redirect_uris, d.enforce_agent_scopes, d.consent_mode, d.consent_keys, a.did,
      standing(p_developer_id, a.status, d.stopped_at), a.scopes,
      (select c.used from quota_counters c where c.developer_id = p_developer_id and c.resource = 'active_grants'),
      (select c.used from quota_counters c where c.developer_id = p_developer_id and c.resource = 'open_requests'),
      d.policy_auto_approval, policies_version(p_developer_id)
    from developers d
      left join (
        select g.did, g.status, g.scopes from agents g where g.developer_id = p_developer_id and g.id = p_agent_id
      ) a on true
    where d.id = p_developer_id;
end
$$;
